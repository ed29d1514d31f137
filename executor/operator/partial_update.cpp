#include "executor/operator/partial_update.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "catalog/builtin/builtin.h"
#include "catalog/descriptors.h"
#include "planner/bound/expression_tree.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

// Below the casts from one integer type to another.
const BoundExpression* without_casts(const BoundExpression* value) {
  const auto* call = try_as<CallExpression>(value);
  bool casts = call != nullptr && call->form == CallForm::implicit_cast &&
               call->arguments.size() == 1 && is_integer_type(call->type) &&
               is_integer_type(call->arguments[0]->type);
  return casts ? without_casts(call->arguments[0]) : value;
}

int64_t load_integer(const char* at, uint32_t bytes) {
  int64_t value = 0;
  std::memcpy(&value, at, bytes);
  int unused_bits = 64 - 8 * static_cast<int>(bytes);
  return static_cast<int64_t>(static_cast<uint64_t>(value) << unused_bits) >> unused_bits;
}

}  // namespace

// Which columns matter.
class PartialUpdate::Analysis {
 public:
  Analysis(const UpdateNode& node, const PointGetNode& scan)
      : table_(*node.table),
        scan_(scan),
        assignments_(node.assignments),
        used_(table_.columns.size()) {
    for (const ColumnAssignment& assignment : assignments_) {
      const BoundExpression* summand = summand_of(assignment);
      use(summand != nullptr ? summand : assignment.value);
      changes_.push_back(
          {range_of(static_cast<size_t>(assignment.column)), /*adds=*/summand != nullptr});
    }
  }
  // Slots of the scan's row; null: nothing.
  void use(const BoundExpression* expression) { use(expression, 0); }
  // Of the new row, and once that has been assigned. A condition on other columns holds whoever has
  // written them.
  void check(const BoundExpression& condition) {
    bool matters = contains(condition, [&](const BoundExpression& part) {
      const auto* slot = try_as<SlotExpression>(&part);
      return slot != nullptr && is_assigned(slot->slot);
    });
    if (matters) use(&condition, table_.columns.size());
  }

  // Null: it cannot be said by ranges.
  std::unique_ptr<PartialUpdate> result() {
    auto made = std::make_unique<PartialUpdate>();
    made->used_.push_back(table_.layout.header_range());
    for (size_t i = 0; i < used_.size(); ++i) {
      if (!used_[i]) continue;
      made->used_.push_back(range_of(i));
    }
    made->changes_ = std::move(changes_);
    return all_fixed_ ? std::move(made) : nullptr;
  }

 private:
  bool is_assigned(int32_t column) const {
    return std::any_of(assignments_.begin(), assignments_.end(),
                       [column](const ColumnAssignment& each) { return each.column == column; });
  }
  RowRange range_of(size_t column) {
    std::optional<RowRange> range = table_.layout.fixed_range(column);
    all_fixed_ &= range.has_value();
    return range.value_or(RowRange());
  }
  // Slots up to `new_columns` are those of the new row, the others the scan's.
  void use(const BoundExpression* expression, size_t new_columns) {
    if (expression == nullptr) return;
    contains(*expression, [&](const BoundExpression& part) {
      const auto* slot = try_as<SlotExpression>(&part);
      if (slot == nullptr) return false;
      auto index = static_cast<size_t>(slot->slot);
      use_column(index < new_columns ? index : column_of(index - new_columns));
      return false;
    });
  }
  size_t column_of(size_t slot) const {
    return slot < scan_.table_columns.size() ? static_cast<size_t>(scan_.table_columns[slot])
                                             : used_.size();
  }
  void use_column(size_t column) {
    if (column < used_.size())
      used_[column] = true;
    else
      all_fixed_ = false;  // no column of the row
  }
  // What an assignment adds to its column or subtracts from it; null: it does something else.
  const BoundExpression* summand_of(const ColumnAssignment& assignment) const {
    auto column = static_cast<size_t>(assignment.column);
    if (!is_integer_type(table_.columns[column].type)) return nullptr;
    const auto* sum = try_as<CallExpression>(without_casts(assignment.value));
    if (sum == nullptr || !is_integer_type(sum->type) || sum->arguments.size() != 2) return nullptr;
    const BuiltinOperator* op = find_operator(sum->operator_oid);
    if (op == nullptr) return nullptr;
    auto is_column = [&](const BoundExpression* argument) {
      const auto* slot = try_as<SlotExpression>(argument);
      return slot != nullptr && column_of(static_cast<size_t>(slot->slot)) == column;
    };
    bool plus = op->name == "+", minus = op->name == "-";
    if ((plus || minus) && is_column(sum->arguments[0])) return sum->arguments[1];
    if (plus && is_column(sum->arguments[1])) return sum->arguments[0];
    return nullptr;
  }

  const TableDescriptor& table_;
  const PointGetNode& scan_;
  std::span<const ColumnAssignment> assignments_;
  std::vector<bool> used_;
  std::vector<Change> changes_;
  bool all_fixed_ = true;
};

std::unique_ptr<const PartialUpdate> PartialUpdate::of(const UpdateNode& node) {
  const auto* scan = try_as<PointGetNode>(node.child);
  bool keeps_keys =
      !node.changes_primary_key && node.changed_indexes.empty() && !node.table->has_foreign_keys();
  // What is returned is used.
  if (scan == nullptr || !keeps_keys || !node.columns.empty()) return nullptr;
  Analysis analysis(node, *scan);
  analysis.use(scan->filter);
  for (const CheckConstraint& check : node.checks) analysis.check(*check.condition);
  return analysis.result();
}

bool PartialUpdate::split(std::string_view old_row, std::string_view new_row,
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
