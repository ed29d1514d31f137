#include "planner/binder/row_comparison.h"

#include <vector>

#include "planner/binder/operator_call.h"
#include "planner/bound/make_expression.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

using Sides = std::span<const BoundExpression* const>;

const BoundExpression* compare(StatementBinding& binding, std::string_view op,
                               const BoundExpression* left, const BoundExpression* right,
                               int32_t location) {
  const BoundExpression* result = make_operator(binding, op, left, right, location);
  if (result->type != type_oid::boolean) {
    throw SqlError(sqlstate::datatype_mismatch,
                   concat("row comparison operator must yield type boolean, not type ",
                          type_name(result->type)))
        .at(binding.position(location));
  }
  return result;
}

[[noreturn]] void throw_no_order(StatementBinding& binding, std::string_view op, int32_t location) {
  throw SqlError(sqlstate::feature_not_supported,
                 concat("could not determine interpretation of row comparison operator ", op))
      .hint("Row comparison operators must be associated with btree operator families.")
      .at(binding.position(location));
}

// Equality of types without an order does not do for rows, either.
void require_order(StatementBinding& binding, std::string_view op, Sides comparisons,
                   int32_t location) {
  for (const BoundExpression* comparison : comparisons) {
    auto* call = try_as<CallExpression>(comparison);
    const TypeInfo* type = call == nullptr ? nullptr : find_type(call->arguments[0]->type);
    if (type != nullptr && !type->is_ordered()) throw_no_order(binding, op, location);
  }
}

// a < c OR (a = c AND (b < d ...)), with <= (>=) only in the last column. The same three-valued
// result as comparing column by column until one differs or is null.
const BoundExpression* compare_in_order(StatementBinding& binding, std::string_view op, Sides left,
                                        Sides right, int32_t location) {
  const BoundExpression* last = compare(binding, op, left.back(), right.back(), location);
  std::string_view strict = op.substr(0, 1);
  for (size_t i = left.size() - 1; i-- > 0;) {
    const BoundExpression* less = compare(binding, strict, left[i], right[i], location);
    const BoundExpression* equal = compare(binding, "=", left[i], right[i], location);
    const BoundExpression* both = make_and(binding.arena, {equal, last});
    const BoundExpression* either[2] = {less, both};
    last = make_boolean_list(binding.arena, BooleanOperator::or_, either);
  }
  return last;
}

}  // namespace

const BoundExpression* make_row_comparison(StatementBinding& binding, std::string_view op,
                                           Sides left, Sides right, int32_t location) {
  if (left.size() != right.size()) {
    throw SqlError(sqlstate::syntax_error, "unequal number of entries in row expressions")
        .at(binding.position(location));
  }
  if (left.empty()) {
    throw SqlError(sqlstate::feature_not_supported, "cannot compare rows of zero length")
        .at(binding.position(location));
  }
  if (left.size() == 1) return compare(binding, op, left[0], right[0], location);
  if (op == "<" || op == "<=" || op == ">" || op == ">=") {
    return compare_in_order(binding, op, left, right, location);
  }
  if (op != "=" && op != "<>") {
    for (size_t i = 0; i < left.size(); ++i) compare(binding, op, left[i], right[i], location);
    throw_no_order(binding, op, location);
  }
  std::vector<const BoundExpression*> columns;
  columns.reserve(left.size());
  for (size_t i = 0; i < left.size(); ++i)
    columns.push_back(compare(binding, op, left[i], right[i], location));
  require_order(binding, op, columns, location);
  return make_boolean_list(binding.arena, op == "=" ? BooleanOperator::and_ : BooleanOperator::or_,
                           columns);
}

const BoundExpression* make_distinct(StatementBinding& binding, const BoundExpression* left,
                                     const BoundExpression* right, bool negated, int32_t location) {
  const auto* equality = as<CallExpression>(make_operator(binding, "=", left, right, location));
  if (equality->type != type_oid::boolean) {
    throw SqlError(sqlstate::datatype_mismatch,
                   "IS DISTINCT FROM requires = operator to yield boolean")
        .at(binding.position(location));
  }
  auto* node = make_expression<DistinctFromExpression>(binding.arena, type_oid::boolean, location);
  node->left = equality->arguments[0];
  node->right = equality->arguments[1];
  node->equality = equality->procedure;
  node->negated = negated;
  return node;
}

}  // namespace pgsilo
