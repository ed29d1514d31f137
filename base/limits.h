// Sizes of stacks and of what is kept or not asked for, in one place. A stack is reserved address
// space above a guard page; only pages that were touched cost memory.
#pragma once

#include <cstddef>

#include "base/sanitizers.h"

namespace pgsilo::limits {

// AddressSanitizer gives every local variable its red zone: frames grow several times.
// ThreadSanitizer follows only some 65,000 nested calls, so that a large stack must end before
// that.
#if defined(PGSILO_ASAN)
inline constexpr size_t stack_frame_factor = 4;
inline constexpr size_t large_stack_megabytes = 1024;
#elif defined(PGSILO_TSAN)
inline constexpr size_t stack_frame_factor = 2;
inline constexpr size_t large_stack_megabytes = 12;
#else
inline constexpr size_t stack_frame_factor = 1;
inline constexpr size_t large_stack_megabytes = 256;
#endif

// One session's fiber.
inline constexpr size_t fiber_stack_bytes = stack_frame_factor * (size_t{512} << 10);
// Parsing, planning and deep expressions run here (base/large_stack.h).
inline constexpr size_t large_stack_bytes = large_stack_megabytes << 20;
// Recursion that has less than this left of its stack stops with 54001 (stack_has_room in
// base/stack.h).
inline constexpr size_t stack_reserve_bytes = stack_frame_factor * (size_t{48} << 10);
// Free stacks a pool keeps mapped, and how much of a kept stack may stay resident.
inline constexpr size_t pooled_stacks = 256;
inline constexpr size_t kept_stack_bytes = stack_frame_factor * (size_t{64} << 10);
inline constexpr size_t kept_large_stack_bytes = size_t{4} << 20;
// Advisory locks of a session are kept as memory_limit admits them, but for so many.
inline constexpr size_t free_advisory_locks = 1024;
// The longest block that an arena keeps behind a statement: its owner may be idle for long.
inline constexpr size_t kept_arena_bytes = size_t{64} << 10;
// Large stacks that a thread keeps: more are there while fibers give way on them.
inline constexpr size_t pooled_large_stacks = 4;

}  // namespace pgsilo::limits
