// Containers that clients let grow: what is longer than a little asks whether memory_limit admits
// it before it is allocated (base/memory_budget.h), and throws MemoryLimitReached when not; beside
// what is there already, for a container that grows moves. Thread safety: that of the containers.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/memory_budget.h"

namespace pgsilo {

template <typename T>
struct AskingAllocator {
  using value_type = T;
  static constexpr size_t free_bytes = size_t{256} << 10;

  AskingAllocator() = default;
  template <typename U>
  AskingAllocator(const AskingAllocator<U>&) {}  // NOLINT(google-explicit-constructor)
  T* allocate(size_t count) {
    if (count > free_bytes / sizeof(T)) [[unlikely]] {
      if (count > SIZE_MAX / sizeof(T)) throw std::bad_array_new_length();
      require_room(count * sizeof(T));
    }
    return std::allocator<T>().allocate(count);
  }
  void deallocate(T* items, size_t count) { std::allocator<T>().deallocate(items, count); }
  bool operator==(const AskingAllocator&) const = default;
};

using AskingString = std::basic_string<char, std::char_traits<char>, AskingAllocator<char>>;
template <typename T>
using AskingVector = std::vector<T, AskingAllocator<T>>;

}  // namespace pgsilo
