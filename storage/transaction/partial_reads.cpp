#include "storage/transaction/partial_reads.h"

#include <algorithm>
#include <cstring>

#include "base/append.h"
#include "base/check.h"

namespace pgsilo {

bool PartialReads::find(uint32_t index) const {
  return std::any_of(reads_.begin(), reads_.end(),
                     [index](const Read& read) { return read.index == index; });
}

void PartialReads::add(uint32_t index, std::string_view row, const RowPart& part) {
  size_t size = 0;
  for (RowRange range : part.ranges) {
    PGSILO_DCHECK(size_t{range.offset} + range.bytes <= row.size());
    size += range.bytes;
  }
  char* bytes = static_cast<char*>(arena_.allocate(size, 1));
  newest_ = std::max(newest_, index);
  append(reads_, Read{index, {arena_.copy_span(part.ranges), part.row_bytes}, bytes});
  copied_bytes_ += size + part.ranges.size_bytes();
  for (RowRange range : part.ranges) {
    std::memcpy(bytes, row.data() + range.offset, range.bytes);
    bytes += range.bytes;
  }
}

void PartialReads::truncate(size_t size) {
  std::erase_if(reads_, [size](const Read& read) { return read.index >= size; });
}

void PartialReads::clear() {
  constexpr size_t ordinary = 4096;
  if (reads_.capacity() > ordinary) free_memory(reads_);
  reads_.clear();
  newest_ = 0;
  arena_.reset();
  copied_bytes_ = 0;
}

}  // namespace pgsilo
