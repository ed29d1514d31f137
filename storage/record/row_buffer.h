// Private memory into which stable reads copy rows, taken from an Arena: it lives as long as the
// arena does. One buffer is reused from read to read; keep() sets the last row's bytes aside so
// that the next read takes new space. Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/arena.h"
#include "storage/record/row_copy.h"

namespace pgsilo {

class RowBuffer {
 public:
  explicit RowBuffer(Arena& arena) : arena_(&arena) {}

  // The row of the last successful read; valid until the next read, or for the arena's life after
  // keep().
  std::string_view bytes() const { return {reinterpret_cast<const char*>(words_), size_}; }
  void keep() {
    words_ += row_words(size_);
    capacity_words_ -= row_words(size_);
    size_ = 0;
  }

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
    capacity_words_ = words < smallest_words ? smallest_words : words;
    words_ = static_cast<uint64_t*>(arena_->allocate(capacity_words_ * 8, 8));
  }

  Arena* arena_;
  uint64_t* words_ = nullptr;
  size_t capacity_words_ = 0;
  size_t size_ = 0;
};

}  // namespace pgsilo
