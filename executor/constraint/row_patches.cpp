#include "executor/constraint/row_patches.h"

#include <cstring>

namespace pgsilo {

namespace {

int64_t load_integer(const char* at, uint32_t bytes) {
  int64_t value = 0;
  std::memcpy(&value, at, bytes);
  int unused_bits = 64 - 8 * static_cast<int>(bytes);
  return static_cast<int64_t>(static_cast<uint64_t>(value) << unused_bits) >> unused_bits;
}

}  // namespace

RowPatches::RowPatches(const PartialUpdate& update, const RowLayout& layout) {
  used_.push_back(layout.header_range());
  for (int32_t column : update.used_columns)
    used_.push_back(layout.fixed_range(static_cast<size_t>(column)));
  for (const ColumnChange& change : update.changes)
    changes_.push_back({layout.fixed_range(static_cast<size_t>(change.column)), change.adds});
}

bool RowPatches::split(std::string_view old_row, std::string_view new_row,
                       std::vector<RowPatch>* patches) const {
  const RowRange header = used_.front();
  if (old_row.size() != new_row.size() ||
      old_row.substr(0, header.bytes) != new_row.substr(0, header.bytes)) {
    return false;
  }
  patches->clear();
  for (const Change& change : changes_) {
    const char* to = new_row.data() + change.range.offset;
    if (!change.adds) {
      patches->push_back(RowPatch::set(change.range, to));
      continue;
    }
    int64_t summand;
    const char* from = old_row.data() + change.range.offset;
    if (__builtin_sub_overflow(load_integer(to, change.range.bytes),
                               load_integer(from, change.range.bytes), &summand)) {
      return false;
    }
    patches->push_back(RowPatch::add(change.range, summand));
  }
  return true;
}

}  // namespace pgsilo
