// Containers that clients let grow: what is longer than a little asks whether memory_limit admits
// it before it is allocated (base/memory_budget.h), and throws MemoryLimitReached when not; beside
// what is there already, for a container that grows moves. Thread safety: that of the containers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/long_work.h"
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

// A longer place for what is there; others have their turns meanwhile.
template <typename T>
void grow_in_parts(AskingVector<T>& values) {
  AskingVector<T> longer;
  longer.reserve(2 * values.size());
  auto rest = std::span<const T>(values);
  while (!rest.empty()) {
    auto part = rest.first(std::min(rest.size(), WorkMeter::block / sizeof(T)));
    longer.insert(longer.end(), part.begin(), part.end());
    rest = rest.subspan(part.size());
    pause_work();
  }
  values.swap(longer);
}

// push_back() where there may be millions.
template <typename T>
void append(AskingVector<T>& values, const T& value) {
  if (values.size() == values.capacity() && values.size() * sizeof(T) > WorkMeter::block)
    grow_in_parts(values);
  values.push_back(value);
}

}  // namespace pgsilo
