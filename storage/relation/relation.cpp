#include "storage/relation/relation.h"

namespace pgsilo {

Relation::Relation(RelationId id, RelationOptions options, bool is_private)
    : options_(options), private_(is_private), tree_(id) {}

uint64_t Relation::next_row_id(unsigned worker) {
  uint64_t* next = tree_.account().row_ids(worker);
  // A range's first id is never given out, so that a multiple of the range means: used up.
  if (next != nullptr && *next % row_id_range != 0) return (*next)++;
  // Ids order nothing: relaxed.
  uint64_t taken = next_range_.fetch_add(1, std::memory_order_relaxed) * row_id_range + 1;
  if (next != nullptr) *next = taken + 1;
  return taken;
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
  int64_t rows = tree_.account().rows();
  return rows < 0 ? 0 : rows;
}

}  // namespace pgsilo
