// Rows taken out of their registers and put back: what sorts, hash tables and materialised results
// keep. Thread safety: none; one operator.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/append.h"
#include "base/arena.h"
#include "base/memory_budget.h"
#include "executor/row_shape.h"

namespace pgsilo {

// Empties the list, and gives its memory back if that is more than a little: an execution may idle
// for long.
inline void free_long_list(std::vector<Datum*>& rows) {
  rows.clear();
  if (rows.capacity() > Arena::free_block_bytes / sizeof(Datum*)) free_memory(rows);
}

// A growing list of saved rows.
class RowStore {
 public:
  explicit RowStore(const RowShape& shape) : shape_(shape) {}

  // Throws MemoryLimitReached, as replace_last().
  void append(const Datum* file) {
    if (rows_.size() == rows_.capacity()) [[unlikely]]
      grow();
    rows_.push_back(shape_.save(file, arena_));
  }
  // Takes the last row's place; the memory of its by-reference values is kept until clear().
  void replace_last(const Datum* file) { shape_.save_to(file, rows_.back(), arena_); }
  size_t size() const { return rows_.size(); }
  const Datum* operator[](size_t index) const { return rows_[index]; }
  std::span<Datum*> rows() { return rows_; }
  const RowShape& shape() const { return shape_; }
  // Taken since it was empty: not what it had kept from before.
  size_t bytes_taken() const {
    return arena_.bytes_reserved() - bytes_kept_ + rows_.size() * sizeof(Datum*);
  }
  void clear() {
    free_long_list(rows_);
    if (arena_.bytes_reserved() != 0) arena_.reset();
    bytes_kept_ = arena_.bytes_reserved();
  }

 private:
  void grow() {
    size_t capacity = std::max<size_t>(64, 2 * rows_.capacity());
    if (capacity > Arena::free_block_bytes / sizeof(Datum*))
      require_room(capacity * sizeof(Datum*));
    rows_.reserve(capacity);
  }

  const RowShape& shape_;
  std::vector<Datum*> rows_;
  Arena arena_{ArenaLimit::memory_limit};
  size_t bytes_kept_ = 0;
};

}  // namespace pgsilo
