#include "planner/access/combination_match.h"

#include <algorithm>

#include "catalog/builtin/builtin.h"
#include "planner/access/known_column.h"
#include "planner/access/planning.h"

namespace pgsilo {

namespace {

std::string_view commuted(std::string_view op) {
  if (op == "<") return ">";
  if (op == "<=") return ">=";
  if (op == ">") return "<";
  if (op == ">=") return "<=";
  return op;
}

bool is_comparison(std::string_view op) {
  return op == "=" || op == "<>" || op == "<" || op == "<=" || op == ">" || op == ">=";
}

bool fulfils(int order, std::string_view op) {
  if (op == "=") return order == 0;
  if (op == "<>") return order != 0;
  if (op == "<") return order < 0;
  if (op == "<=") return order <= 0;
  return op == ">" ? order > 0 : order >= 0;
}

}  // namespace

std::optional<size_t> CombinationMatch::column_of(const BoundExpression& expression) const {
  TableColumn column = table_column(query_, expression);
  if (column.table == nullptr) return {};
  auto found = std::ranges::find(sample_.columns, column.number);
  if (found == sample_.columns.end()) return {};
  return static_cast<size_t>(found - sample_.columns.begin());
}

bool CombinationMatch::can_compare(size_t column, const BoundExpression& value) const {
  EstimatedValue known = estimate_value(statement_, value);
  return known.is_null ||
         (known.is_known && is_comparable(*sample_.types[column], *known.value.type));
}

std::optional<CombinationMatch::Compared> CombinationMatch::comparison_of(
    const BoundExpression& condition) const {
  const auto* call = try_as<CallExpression>(&condition);
  if (call == nullptr || call->operator_oid == 0 || call->arguments.size() != 2) return {};
  const BuiltinOperator* op = find_operator(call->operator_oid);
  if (op == nullptr || !is_comparison(op->name)) return {};
  for (size_t side = 0; side < 2; ++side) {
    std::optional<size_t> column = column_of(*call->arguments[side]);
    const BoundExpression* value = call->arguments[1 - side];
    if (column && can_compare(*column, *value))
      return Compared{*column, side == 0 ? op->name : commuted(op->name), value};
  }
  return {};
}

bool CombinationMatch::understands(const BoundExpression& condition,
                                   std::vector<size_t>* columns) const {
  auto add = [&](std::optional<size_t> column) {
    if (column) columns->push_back(*column);
    return column.has_value();
  };
  if (const auto* boolean = try_as<BooleanExpression>(&condition)) {
    return std::ranges::all_of(boolean->arguments, [&](const BoundExpression* argument) {
      return understands(*argument, columns);
    });
  }
  if (const auto* test = try_as<NullTestExpression>(&condition))
    return add(column_of(*test->argument));
  if (const auto* list = try_as<InListExpression>(&condition)) {
    std::optional<size_t> column = column_of(*list->operand);
    return add(column) && std::ranges::all_of(list->items, [&](const BoundExpression* item) {
             return can_compare(*column, *item);
           });
  }
  if (std::optional<Compared> compared = comparison_of(condition)) return add(compared->column);
  return condition.type == type_oid::boolean && add(column_of(condition));
}

std::optional<bool> CombinationMatch::compare(const Compared& compared,
                                              const CombinedSample::Common& combination) const {
  EstimatedValue known = estimate_value(statement_, *compared.value);
  Datum own = combination.values[compared.column];
  if (own.null || known.is_null || !known.is_known) return {};
  return fulfils(compare_with(*sample_.types[compared.column], own, known.value), compared.op);
}

std::optional<bool> CombinationMatch::is_listed(const BoundExpression& operand,
                                                ExpressionList items,
                                                const CombinedSample::Common& combination) const {
  bool has_null = false;
  for (const BoundExpression* item : items) {
    std::optional<bool> equal = compare({*column_of(operand), "=", item}, combination);
    if (equal && *equal) return true;
    has_null |= !equal;
  }
  if (has_null) return {};
  return false;
}

std::optional<bool> CombinationMatch::holds(const BoundExpression& condition,
                                            const CombinedSample::Common& combination) const {
  if (const auto* boolean = try_as<BooleanExpression>(&condition)) {
    bool is_or = boolean->op == BooleanOperator::or_;
    bool has_null = false;
    for (const BoundExpression* argument : boolean->arguments) {
      std::optional<bool> one = holds(*argument, combination);
      if (boolean->op == BooleanOperator::not_) return one ? std::optional(!*one) : one;
      if (one && *one == is_or) return is_or;
      has_null |= !one;
    }
    if (has_null) return {};
    return !is_or;
  }
  if (const auto* test = try_as<NullTestExpression>(&condition))
    return combination.values[*column_of(*test->argument)].null != test->is_not_null;
  if (const auto* list = try_as<InListExpression>(&condition)) {
    std::optional<bool> found = is_listed(*list->operand, list->items, combination);
    return found && list->negated ? std::optional(!*found) : found;
  }
  if (std::optional<Compared> compared = comparison_of(condition))
    return compare(*compared, combination);
  Datum own = combination.values[*column_of(condition)];
  if (own.null) return {};
  return own.as_bool();
}

}  // namespace pgsilo
