// What a partial update (planner/access/partial_update.h) uses of a row and changes of it, in terms
// of the row's bytes. Thread safety: immutable.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "catalog/row_layout.h"
#include "planner/plan/plan_node.h"
#include "storage/transaction/partial_row.h"

namespace pgsilo {

class RowPatches {
 public:
  RowPatches(const PartialUpdate& update, const RowLayout& layout);

  // Of the encoded rows, null bits included.
  std::span<const RowRange> used() const { return used_; }
  // The patches that make `new_row` of `old_row`; they point into the former. False: they have
  // different forms, or no patch says what has become of a column.
  bool split(std::string_view old_row, std::string_view new_row,
             std::vector<RowPatch>* patches) const;

 private:
  struct Change {
    RowRange range;
    bool adds = false;
  };

  std::vector<RowRange> used_;  // the header first
  std::vector<Change> changes_;
};

}  // namespace pgsilo
