// How much memory this process uses, and how much there is for it. Thread safety: any thread.
#pragma once

#include <cstddef>
#include <string>

#include "base/memory_budget.h"

namespace pgsilo {

// What the allocator says of itself (jemalloc, or that of a sanitizer); where it says nothing, the
// resident pages stand for both numbers. Takes some ten microseconds.
MemoryUsage measure_process_memory();

// The least of the machine's memory, the limits of the control groups (versions 1 and 2) that the
// process is in, and half of what RLIMIT_AS and RLIMIT_DATA leave beside what the process takes of
// them now and `stack_bytes`, which it is going to take. The other half is for what takes addresses
// and hardly any memory: more stacks, and what the allocator has given back and keeps the addresses
// of. `root` stands before /proc and /sys (tests).
size_t memory_for_process(size_t stack_bytes, const std::string& root = {});

// For each thread that is to go on when memory runs out, as it begins: the allocator makes what a
// thread has of its own at its first allocation, and where there is no memory for that it may take
// the process with it (jemalloc 5.3 under RLIMIT_AS).
void take_thread_memory();

}  // namespace pgsilo
