// Allocations that fail on demand, in the whole binary: operator new is replaced. Thread safety:
// each thread's failures are its own.
#pragma once

#include <cstddef>

namespace pgsilo::testing {

// While it lives, the allocation of this thread that comes after `successes` others throws
// std::bad_alloc; once, or so do all behind it.
class FailingMemory {
 public:
  enum class Fails : unsigned char { once, for_good };
  explicit FailingMemory(size_t successes, Fails fails = Fails::once);
  ~FailingMemory();
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;

  bool has_failed() const;
};

}  // namespace pgsilo::testing
