#include "base/append.h"

#include <algorithm>
#include <new>

#include "base/memory_budget.h"

namespace pgsilo {

size_t grown_capacity(size_t capacity, size_t item_bytes) {
  constexpr size_t first = 16;
  constexpr size_t large_bytes = size_t{1} << 20;
  if (capacity >= max_listed) throw std::bad_alloc();
  if (capacity * item_bytes < large_bytes) return std::max(first, 2 * capacity);
  // Twice as much would lie idle for long, or be what memory_limit has no room for.
  size_t grown = std::min(capacity + capacity / 2, max_listed);
  if (!memory_admits(grown * item_bytes, MemoryPurpose::upkeep)) throw MemoryLimitReached();
  return grown;
}

}  // namespace pgsilo
