// Private memory into which stable reads copy rows, taken from an Arena: as much as the longest of
// them needs, reused from read to read. Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/arena.h"
#include "storage/record/row_copy.h"

namespace pgsilo {

class RowBuffer {
 public:
  static constexpr size_t whole = SIZE_MAX;
  // Only the first `wanted` bytes of rows are read into it; behind them lies anything. (A row that
  // is not copied out of a record may be there as a whole.)
  explicit RowBuffer(Arena& arena, size_t wanted = whole) : arena_(&arena), wanted_(wanted) {}

  size_t wanted() const { return wanted_; }

  // The row of the last successful read, as long as it is; valid until the next read.
  std::string_view bytes() const { return {reinterpret_cast<const char*>(words_), size_}; }

  // Space for `bytes` bytes. Throws std::bad_alloc.
  uint64_t* reserve(size_t bytes) {
    if (row_words(bytes) > capacity_words_) grow(row_words(bytes));
    return words_;
  }
  size_t capacity_bytes() const { return capacity_words_ * 8; }
  void set_size(size_t bytes) { size_ = bytes; }

 private:
  static constexpr size_t smallest_words = 64;
  [[gnu::noinline]] void grow(size_t words) {
    // Rows that grow row by row must not take a block each.
    size_t wanted = std::max({words, smallest_words, capacity_words_ + capacity_words_ / 4});
    if (words_ != nullptr) arena_->give_back(words_, capacity_words_ * 8);
    words_ = nullptr;
    capacity_words_ = size_ = 0;
    words_ = static_cast<uint64_t*>(arena_->allocate(wanted * 8, 8));
    capacity_words_ = wanted;
  }

  Arena* arena_;
  size_t wanted_;
  uint64_t* words_ = nullptr;
  size_t capacity_words_ = 0;
  size_t size_ = 0;
};

}  // namespace pgsilo
