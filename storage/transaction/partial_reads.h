// The reads of a transaction that need only some bytes of their rows to stay as they are, with
// those bytes: when another version is there, they are compared (docs/hot_records.md). Each goes
// with an entry of the read set, of kind partial. Thread safety: none; one transaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "storage/record/row_buffer.h"
#include "storage/transaction/partial_row.h"

namespace pgsilo {

class PartialReads {
 public:
  struct Read {
    uint32_t index;  // in the read set
    std::span<const RowRange> ranges;
    const char* bytes;  // of the ranges, one behind the other

    bool agrees_with(std::string_view row) const;
  };

  // Of `row`, which has the ranges, their bytes are needed. Throws std::bad_alloc.
  void add(uint32_t index, std::string_view row, std::span<const RowRange> ranges);
  // Has room for each of the rows, as it was, so that commit need not allocate to read it again.
  RowBuffer& scratch() { return scratch_; }
  // Whether the read set's entry is of such a read.
  bool contains(uint32_t index) const { return index <= newest_ && find(index); }
  size_t size() const { return reads_.size(); }
  const Read* begin() const { return reads_.data(); }
  const Read* end() const { return reads_.data() + reads_.size(); }
  // Forgets those of entries from `size` on.
  void truncate(size_t size);
  void clear();

 private:
  bool find(uint32_t index) const;

  std::vector<Read> reads_;
  Arena arena_;
  RowBuffer scratch_{arena_};
  uint32_t newest_ = 0;  // no entry behind this one is of such a read
};

}  // namespace pgsilo
