#include "planner/plan/layout.h"

#include <algorithm>

#include "base/long_work.h"
#include "planner/bound/expression_tree.h"

namespace pgsilo {

void Layout::add(const BoundExpression* expression) {
  slots_.push_back(expression);
  if (expression->kind != ExpressionKind::column) columns_only_ = false;
}

void Layout::append(const Layout& other) {
  for (const BoundExpression* expression : other.slots_) add(expression);
}

int32_t Layout::find_column(int32_t relation, int32_t column) const {
  constexpr size_t slot_work = 8;
  did_work(slots_.size() * slot_work);
  for (size_t i = 0; i < slots_.size(); ++i) {
    auto* held = try_as<ColumnExpression>(slots_[i]);
    if (held != nullptr && held->relation == relation && held->column == column)
      return static_cast<int32_t>(i);
  }
  return -1;
}

int32_t Layout::find(const BoundExpression& expression) const {
  if (auto* column = try_as<ColumnExpression>(&expression))
    return column->levels_up == 0 ? find_column(column->relation, column->column) : -1;
  if (columns_only_ || expression.kind == ExpressionKind::constant) return -1;
  auto same = std::find(slots_.begin(), slots_.end(), &expression);
  if (same != slots_.end()) return static_cast<int32_t>(same - slots_.begin());
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (equal_expressions(slots_[i], &expression)) return static_cast<int32_t>(i);
  }
  return -1;
}

}  // namespace pgsilo
