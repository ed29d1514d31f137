#include "catalog/row_columns.h"

#include <algorithm>

namespace pgsilo {

namespace {

// In ascending order; those that touch become one.
void join(std::vector<RowRange>* ranges) {
  std::sort(ranges->begin(), ranges->end(),
            [](RowRange a, RowRange b) { return a.offset < b.offset; });
  size_t kept = 0;
  for (RowRange range : *ranges) {
    RowRange* last = kept != 0 ? &(*ranges)[kept - 1] : nullptr;
    if (last != nullptr && last->offset + last->bytes == range.offset)
      last->bytes += range.bytes;
    else
      (*ranges)[kept++] = range;
  }
  ranges->resize(kept);
}

}  // namespace

RowColumns::RowColumns(const RowLayout& layout, std::span<const int32_t> columns)
    : layout_(&layout), are_few_(columns.size() < layout.column_count()) {
  if (columns.empty()) return;
  fixed_.push_back(layout.header_range());
  for (int32_t column : columns) {
    auto index = static_cast<uint32_t>(column);
    if (layout.column(index).width == 0)
      variable_.push_back(index);
    else
      fixed_.push_back(layout.fixed_range(index));
  }
  join(&fixed_);
}

std::optional<RowPart> RowColumns::find(std::string_view row, std::vector<RowRange>* memory) const {
  if (fixed_.empty()) return RowPart();
  if (!layout_->has_all_columns(row)) return std::nullopt;
  if (variable_.empty()) return RowPart(fixed_);
  *memory = fixed_;
  uint32_t row_bytes = 0;
  for (uint32_t column : variable_) {
    if (!layout_->find_variable(row, column, memory)) row_bytes = static_cast<uint32_t>(row.size());
  }
  return RowPart(*memory, row_bytes);
}

}  // namespace pgsilo
