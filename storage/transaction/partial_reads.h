// The reads of a transaction that need only some bytes of their rows to stay as they are, with
// those bytes: when another version is there, they are compared (docs/hot_records.md). Each goes
// with an entry of the read set. Thread safety: none; one transaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "storage/limits.h"
#include "storage/record/row_range.h"

namespace pgsilo {

class PartialReads {
 public:
  struct Read {
    uint32_t index;  // in the read set
    RowPart part;
    const char* bytes;  // of its ranges, one behind the other
  };

  bool is_full() const { return reads_.size() >= max_partial_reads; }
  // Of `row`, which has `part`, that is needed. Throws std::bad_alloc.
  void add(uint32_t index, std::string_view row, const RowPart& part);
  // Whether the read set's entry is of such a read.
  bool contains(uint32_t index) const { return index <= newest_ && find(index); }
  // Memory in use, about.
  size_t bytes() const { return reads_.size() * sizeof(Read) + copied_bytes_; }
  const Read* begin() const { return reads_.data(); }
  const Read* end() const { return reads_.data() + reads_.size(); }
  // Forgets those of entries from `size` on.
  void truncate(size_t size);
  void clear();

 private:
  bool find(uint32_t index) const;

  std::vector<Read> reads_;
  Arena arena_;
  size_t copied_bytes_ = 0;
  uint32_t newest_ = 0;  // no entry behind this one is of such a read
};

}  // namespace pgsilo
