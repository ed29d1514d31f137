// Where the exhaustive interleaver (tests/model) may switch threads: before every access to a
// shared word of a tree. Empty except in the special build of the tree's sources for that test,
// which defines PGSILO_SCHEDULE_HOOKS.
#pragma once

#ifdef PGSILO_SCHEDULE_HOOKS
namespace pgsilo {
// Defined by the test. `waiting`: the caller can go on only after another thread made a step.
void schedule_point(bool waiting);
}  // namespace pgsilo
#define PGSILO_SCHEDULE_POINT() ::pgsilo::schedule_point(false)
#define PGSILO_SCHEDULE_WAIT() ::pgsilo::schedule_point(true)
#else
#define PGSILO_SCHEDULE_POINT() static_cast<void>(0)
#define PGSILO_SCHEDULE_WAIT() static_cast<void>(0)
#endif
