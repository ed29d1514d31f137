// vector.push_back(item) for hot paths: growing is left out of line, so that the caller needs no
// room for it. Throws std::bad_alloc and has then changed nothing. Thread safety: the vector's.
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

}  // namespace pgsilo
