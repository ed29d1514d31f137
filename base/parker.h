// The seam between code that must wait and whoever runs it: a session's fiber parks by switching to
// its worker's scheduler, a plain thread (tests, tools) by sleeping.
#pragma once

#include <cstdint>

namespace pgsilo {

// One per fiber or thread that waits. A token as in LockSupport: an unpark before the park makes
// that park return at once; several unparks before a park count as one. Wake-ups may be spurious:
// callers re-check their condition.
class Parker {
 public:
  static constexpr int64_t no_deadline = INT64_MAX;
  virtual ~Parker() = default;
  // Suspends the caller until unpark() or until the monotonic clock reaches `deadline_us`. Only its
  // owner calls it.
  virtual void park(int64_t deadline_us = no_deadline) = 0;
  // Lets others run if the caller has run for long already. Only its owner calls it, inside long
  // work, where it holds nothing that others may want at once.
  virtual void give_way() {}
  // Thread-safe; wakes the owner. Never blocks.
  virtual void unpark() = 0;
  // As park(), for a commit of another: for who looks at what the owner waits for.
  virtual void park_for_commit(int64_t deadline_us) { park(deadline_us); }
};

}  // namespace pgsilo
