#include "planner/access/partial_update.h"

#include <algorithm>
#include <vector>

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

// Which columns matter.
class Analysis {
 public:
  Analysis(const UpdateNode& node, const PointGetNode& scan)
      : table_(*node.table),
        scan_(scan),
        assignments_(node.assignments),
        used_(table_.columns.size()) {
    for (const ColumnAssignment& assignment : assignments_) {
      const BoundExpression* summand = summand_of(assignment);
      use(summand != nullptr ? summand : assignment.value);
      changes_.push_back({assignment.column, /*adds=*/summand != nullptr});
    }
    for (const ColumnAssignment& made : node.generated) {
      use(made.value, table_.columns.size());
      changes_.push_back({made.column, /*adds=*/false});
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

  const PartialUpdate* result(Arena& arena) const {
    std::vector<int32_t> used;
    for (size_t i = 0; i < used_.size(); ++i) {
      if (used_[i]) used.push_back(static_cast<int32_t>(i));
    }
    auto is_fixed = [this](int32_t column) {
      return table_.layout.column(static_cast<size_t>(column)).width != 0;
    };
    bool all_fixed = !uses_handle_ && !changes_.empty() &&
                     std::all_of(used.begin(), used.end(), is_fixed) &&
                     std::all_of(changes_.begin(), changes_.end(),
                                 [&](const ColumnChange& each) { return is_fixed(each.column); });
    if (!all_fixed) return nullptr;
    auto* made = arena.make<PartialUpdate>();
    made->used_columns = arena.copy_span(used);
    made->changes = arena.copy_span(changes_);
    return made;
  }

 private:
  bool is_assigned(int32_t column) const {
    return std::ranges::find(changes_, column, &ColumnChange::column) != changes_.end();
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
  // Of the scan; behind the columns is the row handle.
  size_t column_of(size_t slot) const {
    return slot < scan_.table_columns.size() ? static_cast<size_t>(scan_.table_columns[slot])
                                             : used_.size();
  }
  void use_column(size_t column) {
    if (column < used_.size())
      used_[column] = true;
    else
      uses_handle_ = true;
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
  bool uses_handle_ = false;
  std::vector<ColumnChange> changes_;
};

}  // namespace

const PartialUpdate* find_partial_update(Arena& arena, const UpdateNode& node) {
  const auto* scan = try_as<PointGetNode>(node.child);
  bool keeps_keys =
      !node.changes_primary_key && node.changed_indexes.empty() && !node.table->has_foreign_keys();
  // What is returned is used.
  if (scan == nullptr || !keeps_keys || !node.returning.empty()) return nullptr;
  Analysis analysis(node, *scan);
  analysis.use(scan->filter);
  for (const CheckConstraint& check : node.checks) analysis.check(*check.condition);
  return analysis.result(arena);
}

}  // namespace pgsilo
