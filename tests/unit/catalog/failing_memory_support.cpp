#include <cstdlib>
#include <new>

#include "tests/unit/catalog/failing_memory.h"

namespace pgsilo::testing {

namespace {
enum class Failure : unsigned char { none, ahead, past };
thread_local Failure failure = Failure::none;
thread_local size_t successes_left = 0;
thread_local bool for_good = false;

bool fails_now() {
  if (failure == Failure::past) return for_good;
  if (failure != Failure::ahead || successes_left-- != 0) return false;
  failure = Failure::past;
  return true;
}
}  // namespace

FailingMemory::FailingMemory(size_t successes, Fails fails) {
  successes_left = successes;
  for_good = fails == Fails::for_good;
  failure = Failure::ahead;
}
FailingMemory::~FailingMemory() { failure = Failure::none; }
bool FailingMemory::has_failed() const { return failure == Failure::past; }

}  // namespace pgsilo::testing

// All forms without an alignment: those of a sanitizer do not call the first one.
void* operator new(size_t bytes) {
  void* memory = operator new(bytes, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return pgsilo::testing::fails_now() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t& nothrow) noexcept {
  return operator new(bytes, nothrow);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
