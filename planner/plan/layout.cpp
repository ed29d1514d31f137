#include "planner/plan/layout.h"

#include "planner/bound/expression_tree.h"

namespace pgsilo {

void Layout::add(const BoundExpression* expression) {
  slots_.push_back(expression);
  if (expression->kind != ExpressionKind::column) columns_only_ = false;
}

void Layout::append(const Layout& other) {
  for (const BoundExpression* expression : other.slots_) add(expression);
}

int32_t Layout::find(const BoundExpression& expression) const {
  if (auto* column = try_as<ColumnExpression>(&expression)) {
    if (column->levels_up != 0) return -1;
    for (size_t i = 0; i < slots_.size(); ++i) {
      auto* held = try_as<ColumnExpression>(slots_[i]);
      if (held != nullptr && held->relation == column->relation && held->column == column->column) {
        return static_cast<int32_t>(i);
      }
    }
    return -1;
  }
  if (columns_only_ || expression.kind == ExpressionKind::constant) return -1;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (equal_expressions(slots_[i], &expression)) return static_cast<int32_t>(i);
  }
  return -1;
}

}  // namespace pgsilo
