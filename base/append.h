// Vectors on hot paths. append() is vector.push_back(item) with growing left out of line, so that
// the caller needs no room for it; it throws std::bad_alloc and has then changed nothing. No vector
// grows beyond max_listed: their users count positions in 32 bits. Thread safety: the vector's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace pgsilo {

inline constexpr size_t max_listed = size_t{1} << 31;

// What a full vector's capacity becomes, in items: doubled, of a large one (1 MB) half as much
// again, if memory_limit's reserve has room for it. Throws std::bad_alloc.
size_t grown_capacity(size_t capacity, size_t item_bytes);

template <typename T>
[[gnu::noinline]] void grow(std::vector<T>& items) {
  items.reserve(grown_capacity(items.capacity(), sizeof(T)));
}

template <typename T>
inline void append(std::vector<T>& items, const T& item) {
  if (items.size() == items.capacity()) [[unlikely]]
    grow(items);
  if (items.size() == items.capacity()) __builtin_unreachable();  // push_back() need not look again
  items.push_back(item);
}

// The next `count` calls of push_back() allocate nothing. Grows by half at least, so that any
// number of calls together costs what the items do (reserve() may make room for just so many, and
// copy them all each time); does not ask memory_limit, for what frees memory needs room, too.
// Throws std::bad_alloc and has then changed nothing.
template <typename T>
inline void make_room(std::vector<T>& items, size_t count) {
  if (items.capacity() - items.size() >= count) return;
  constexpr size_t first = 16;
  items.reserve(std::max({items.size() + count, items.capacity() + items.capacity() / 2, first}));
}

// Empties the vector and gives its memory back, which `items = {}` does not: that assigns an empty
// list.
template <typename T>
[[gnu::noinline]] void free_memory(std::vector<T>& items) {
  std::vector<T>().swap(items);
}

}  // namespace pgsilo
