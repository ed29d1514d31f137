// How much memory this process uses, and how much there is for it. Thread safety: any thread.
#pragma once

#include <cstddef>
#include <string>

#include "base/memory_budget.h"

namespace pgsilo {

// What the allocator says of itself (jemalloc, or that of a sanitizer); where it says nothing, the
// resident pages stand for both numbers. Takes some ten microseconds.
MemoryUsage measure_process_memory();

// The least of the machine's memory and the limits of the control groups (versions 1 and 2) that
// the process is in. `root` stands before /proc and /sys (tests).
size_t memory_for_process(const std::string& root = {});

}  // namespace pgsilo
