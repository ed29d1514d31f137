// Where some columns of a table's rows lie among the bytes of a row: what a statement that looks at
// no others rests on (docs/hot_records.md). Thread safety: immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "catalog/row_layout.h"
#include "storage/record/row_range.h"

namespace pgsilo {

class RowColumns {
 public:
  RowColumns() = default;
  // `layout` outlives it.
  RowColumns(const RowLayout& layout, std::span<const int32_t> columns);

  // Whether that is less than a row.
  bool are_few() const { return are_few_; }
  // Whether they all have fixed widths.
  bool lie_in_head() const { return variable_.empty(); }
  // In a row of the layout, whose null bits, and the number of whose columns, are always used;
  // valid as long as `memory` is left alone. None: the row has fewer columns than the layout, so
  // that it is used as a whole.
  std::optional<RowPart> find(std::string_view row, std::vector<RowRange>* memory) const;

 private:
  const RowLayout* layout_ = nullptr;
  std::vector<RowRange> fixed_;     // and the header
  std::vector<uint32_t> variable_;  // numbers of columns
  bool are_few_ = false;
};

}  // namespace pgsilo
