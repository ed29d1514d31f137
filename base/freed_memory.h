// How freed memory goes back to the system: docs/decisions/memory-retention.md. Nothing happens
// where another allocator than jemalloc is. Thread safety: note_long_free(): any thread.
#pragma once

#include <cstddef>

namespace pgsilo {

// Once, while the process has one thread: from here on it goes back also while nothing is
// allocated, and what is long by a thread of the allocator's.
void let_freed_memory_go_back();

// Allocations of so many bytes are long.
inline constexpr size_t long_allocation_bytes = size_t{8} << 20;
// Behind the free() of such: that thread may be asleep.
void note_long_free();

}  // namespace pgsilo
