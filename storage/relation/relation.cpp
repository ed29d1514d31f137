#include "storage/relation/relation.h"

namespace pgsilo {

Relation::Relation(RelationId id, RelationOptions options, bool is_private)
    : options_(options), private_(is_private), tree_(id) {}

uint64_t Relation::next_row_id(unsigned worker) {
  std::atomic<uint64_t>& next = books_[worker % book_count].next_row_id;
  uint64_t id = next.load(std::memory_order_relaxed);
  for (;;) {
    // A range's first id is never given out, so that a multiple of the range means: used up.
    uint64_t taken = id % row_id_range != 0
                         ? id
                         : next_range_.fetch_add(1, std::memory_order_relaxed) * row_id_range + 1;
    // Ids order nothing: relaxed. A failure only means that another worker shares the book.
    if (next.compare_exchange_weak(id, taken + 1, std::memory_order_relaxed)) return taken;
  }
}

void Relation::raise_row_id_floor(uint64_t id) {
  uint64_t range = id / row_id_range + 1;
  uint64_t next = next_range_.load(std::memory_order_relaxed);
  while (next < range &&
         !next_range_.compare_exchange_weak(next, range, std::memory_order_relaxed)) {
  }
}

uint64_t Relation::row_id_floor() const {
  uint64_t next = next_range_.load(std::memory_order_relaxed);
  return next == 1 ? 0 : next * row_id_range - 1;
}

int64_t Relation::row_count() const {
  int64_t sum = 0;
  for (const Book& book : books_) sum += book.rows.load(std::memory_order_relaxed);
  return sum < 0 ? 0 : sum;
}

}  // namespace pgsilo
