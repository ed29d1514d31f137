// Vectors on hot paths. append() is vector.push_back(item) with growing left out of line, so that
// the caller needs no room for it; it throws std::bad_alloc and has then changed nothing. Thread
// safety: the vector's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace pgsilo {

template <typename T>
[[gnu::noinline]] void grow(std::vector<T>& items) {
  constexpr size_t first = 16;
  items.reserve(std::max(first, 2 * items.capacity()));
}

template <typename T>
inline void append(std::vector<T>& items, const T& item) {
  if (items.size() == items.capacity()) [[unlikely]]
    grow(items);
  if (items.size() == items.capacity()) __builtin_unreachable();  // push_back() need not look again
  items.push_back(item);
}

// Empties the vector and gives its memory back, which `items = {}` does not: that assigns an empty
// list.
template <typename T>
[[gnu::noinline]] void free_memory(std::vector<T>& items) {
  std::vector<T>().swap(items);
}

}  // namespace pgsilo
