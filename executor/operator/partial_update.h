// An UPDATE of one row by its key, taken apart into what it uses of the row and what it changes
// (docs/hot_records.md), so that others may change the rest of it meanwhile. SET x = x + ... does
// not use x. Thread safety: immutable.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "planner/plan/plan_node.h"
#include "storage/transaction/partial_row.h"

namespace pgsilo {

class PartialUpdate {
 public:
  // Null: it uses the row as a whole, for its keys may change, or columns of variable width are
  // among those that matter.
  static std::unique_ptr<const PartialUpdate> of(const UpdateNode& node);

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
  class Analysis;

  std::vector<RowRange> used_;
  std::vector<Change> changes_;
};

}  // namespace pgsilo
