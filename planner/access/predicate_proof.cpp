#include "planner/access/predicate_proof.h"

#include <algorithm>
#include <array>
#include <optional>

#include "catalog/builtin/builtin.h"
#include "planner/bound/expression_tree.h"
#include "planner/statistics/value_order.h"
#include "sql/types/date_time.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

const BooleanExpression* list_of(const BoundExpression& expression, BooleanOperator op) {
  auto* boolean = try_as<BooleanExpression>(&expression);
  return boolean != nullptr && boolean->op == op ? boolean : nullptr;
}

enum class Relation : uint8_t { less, less_equal, equal, greater_equal, greater, unequal };

// `operand relation value`, the value a constant that is not null.
struct Comparison {
  const BoundExpression* operand = nullptr;
  Oid compared_as = invalid_oid;  // the operand's type: an int4 taken for an oid has another order
  Relation relation = Relation::equal;
  KnownValue value;
};

constexpr std::array<std::string_view, 6> relation_names = {"<", "<=", "=", ">=", ">", "<>"};

std::optional<Relation> relation_of(std::string_view name) {
  auto found = std::ranges::find(relation_names, name);
  if (found == relation_names.end()) return std::nullopt;
  return static_cast<Relation>(found - relation_names.begin());
}

// As it is from the other side.
Relation turned(Relation relation) {
  switch (relation) {
    case Relation::less:
      return Relation::greater;
    case Relation::less_equal:
      return Relation::greater_equal;
    case Relation::greater:
      return Relation::less;
    case Relation::greater_equal:
      return Relation::less_equal;
    default:
      return relation;
  }
}

std::optional<Comparison> compare(const BoundExpression& left, const BoundExpression& right,
                                  Oid operator_oid) {
  const BuiltinOperator* op = operator_oid != invalid_oid ? find_operator(operator_oid) : nullptr;
  std::optional<Relation> relation = op != nullptr ? relation_of(op->name) : std::nullopt;
  if (!relation) return std::nullopt;
  const BoundExpression* operand = &left;
  auto* constant = try_as<ConstantExpression>(&right);
  if (constant == nullptr) {
    constant = try_as<ConstantExpression>(&left);
    operand = &right;
    relation = turned(*relation);
  }
  if (constant == nullptr || constant->value.null) return std::nullopt;
  const TypeInfo* type = find_type(constant->type);
  const TypeInfo* of_operand = find_type(operand->type);
  bool ordered = type != nullptr && of_operand != nullptr && is_comparable(*of_operand, *type);
  if (!ordered) return std::nullopt;
  return Comparison{without_relabel(operand), operand->type, *relation, {type, constant->value}};
}

bool is_date_or_timestamp(const TypeInfo& type) {
  return type.oid == type_oid::date || type.oid == type_oid::timestamp;
}

// How two constants compare by an immutable operator of a family that both types are in, exactly;
// an estimate takes more types for comparable (is_comparable). Without a value: by none, as a date
// or a timestamp and a timestamptz, which the time zone decides.
std::optional<int> exact_order(const KnownValue& left, const KnownValue& right) {
  if (left.type->oid == right.type->oid) return left.type->compare(left.value, right.value);
  if (!is_comparable(*left.type, *right.type)) return std::nullopt;
  if (is_date_or_timestamp(*left.type) && is_date_or_timestamp(*right.type)) {
    return left.type->oid == type_oid::date
               ? date_compare_timestamp(left.value.i64, right.value.i64)
               : -date_compare_timestamp(right.value.i64, left.value.i64);
  }
  if (left.type->category == 'D' || right.type->category == 'D') return std::nullopt;
  // Integers, floats and texts of two lengths are compared by one function.
  return left.type->compare(left.value, right.value);
}

std::optional<Comparison> comparison_of(const BoundExpression& expression) {
  auto* call = try_as<CallExpression>(&expression);
  if (call == nullptr || call->arguments.size() != 2) return std::nullopt;
  return compare(*call->arguments[0], *call->arguments[1], call->operator_oid);
}

// What x being in this relation to a value says of one that is not less (`order` > 0), not equal or
// not greater: `order` tells how the first value compares with the second.
bool follows(Relation from, Relation to, int order) {
  bool below = from == Relation::less || from == Relation::less_equal;
  bool above = from == Relation::greater || from == Relation::greater_equal;
  bool strict = from == Relation::less || from == Relation::greater;
  bool equal = from == Relation::equal;
  switch (to) {
    case Relation::less:
      return (below || equal) && (strict ? order <= 0 : order < 0);
    case Relation::less_equal:
      return (below || equal) && order <= 0;
    case Relation::equal:
      return equal && order == 0;
    case Relation::greater_equal:
      return (above || equal) && order >= 0;
    case Relation::greater:
      return (above || equal) && (strict ? order >= 0 : order > 0);
    case Relation::unequal:
      if (from == Relation::unequal) return order == 0;
      if (equal) return order != 0;
      if (below) return strict ? order <= 0 : order < 0;
      return strict ? order >= 0 : order > 0;
  }
  return false;
}

bool follows(const Comparison& condition, const Comparison& predicate) {
  if (condition.compared_as != predicate.compared_as) return false;
  if (!equal_expressions(condition.operand, predicate.operand)) return false;
  std::optional<int> order = exact_order(condition.value, predicate.value);
  return order && follows(condition.relation, predicate.relation, *order);
}

// Whether it is NULL wherever `part` is.
bool needs(const BoundExpression& expression, const BoundExpression& part) {
  if (equal_expressions(&expression, &part)) return true;
  auto any = [&](ExpressionList arguments) {
    return std::ranges::any_of(arguments,
                               [&](const BoundExpression* each) { return needs(*each, part); });
  };
  switch (expression.kind) {
    case ExpressionKind::call: {
      auto* call = as<CallExpression>(&expression);
      return call->strict && any(call->arguments);
    }
    case ExpressionKind::relabel:
      return needs(*as<RelabelExpression>(&expression)->argument, part);
    case ExpressionKind::io_conversion:
      return needs(*as<IoConversionExpression>(&expression)->argument, part);
    case ExpressionKind::typmod_coercion:
      return needs(*as<TypmodCoercionExpression>(&expression)->argument, part);
    case ExpressionKind::in_list:
      return needs(*as<InListExpression>(&expression)->operand, part);
    case ExpressionKind::boolean: {
      auto* negation = list_of(expression, BooleanOperator::not_);
      return negation != nullptr && needs(*negation->arguments[0], part);
    }
    default:
      return false;
  }
}

// Whether it is not true wherever `part` is NULL. What is false then may be true once it is negated
// (no value is in an empty array), so this holds of a condition as a whole.
bool excludes_null(const BoundExpression& condition, const BoundExpression& part) {
  if (auto* comparison = try_as<ArrayComparisonExpression>(&condition))
    return comparison->strict && !comparison->is_all && needs(*comparison->operand, part);
  if (auto* test = try_as<NullTestExpression>(&condition)) {
    return test->is_not_null && test->argument->type != type_oid::record &&
           needs(*test->argument, part);
  }
  return needs(condition, part);
}

// What a condition wants of a boolean: `f`, `NOT f`, `f = false`, `f IS TRUE`.
struct Wanted {
  const BoundExpression* operand = nullptr;
  bool value = true;
};

Wanted wanted_of(const BoundExpression& condition) {
  if (auto* negation = list_of(condition, BooleanOperator::not_)) {
    const BoundExpression& negated = *negation->arguments[0];
    // Of what is NULL, IS TRUE is false and its negation true.
    if (negated.kind == ExpressionKind::boolean_test) return {&negated, false};
    Wanted inner = wanted_of(negated);
    return {inner.operand, !inner.value};
  }
  if (auto* test = try_as<BooleanTestExpression>(&condition)) {
    if (test->test == BooleanTest::is_true) return {test->argument, true};
    if (test->test == BooleanTest::is_false) return {test->argument, false};
  }
  std::optional<Comparison> known = comparison_of(condition);
  bool is_comparison = known && known->value.type->oid == type_oid::boolean &&
                       (known->relation == Relation::equal || known->relation == Relation::unequal);
  if (!is_comparison) return {&condition, true};
  return {known->operand, (known->relation == Relation::equal) == known->value.value.as_bool()};
}

bool want_the_same(const BoundExpression& left, const BoundExpression& right) {
  Wanted one = wanted_of(left);
  Wanted other = wanted_of(right);
  return one.value == other.value && equal_expressions(one.operand, other.operand);
}

// Each value of the list in turn is what the operand equals.
bool list_implies(const InListExpression& list, const BoundExpression& predicate);

// Longer lists are only compared as a whole, as PostgreSQL does.
bool is_short(const InListExpression& list) {
  constexpr size_t longest_list = 100;
  return list.items.size() <= longest_list;
}

bool is_in_list(const BoundExpression& condition, const InListExpression& list) {
  std::optional<Comparison> known = comparison_of(condition);
  return known && std::ranges::any_of(list.items, [&](const BoundExpression* item) {
           std::optional<Comparison> equal = compare(*list.operand, *item, list.operator_oid);
           return equal && follows(*known, *equal);
         });
}

bool atom_implies(const BoundExpression& condition, const BoundExpression& predicate) {
  if (want_the_same(condition, predicate)) return true;
  if (auto* test = try_as<NullTestExpression>(&predicate)) {
    return test->is_not_null && test->argument->type != type_oid::record &&
           excludes_null(condition, *without_relabel(test->argument));
  }
  if (auto* list = try_as<InListExpression>(&condition); list != nullptr && !list->negated)
    return is_short(*list) && list_implies(*list, predicate);
  if (auto* list = try_as<InListExpression>(&predicate); list != nullptr && !list->negated)
    return is_short(*list) && is_in_list(condition, *list);
  std::optional<Comparison> known = comparison_of(condition);
  std::optional<Comparison> wanted = comparison_of(predicate);
  return known && wanted && follows(*known, *wanted);
}

bool list_implies(const InListExpression& list, const BoundExpression& predicate) {
  return std::ranges::all_of(list.items, [&](const BoundExpression* item) {
    std::optional<Comparison> known = compare(*list.operand, *item, list.operator_oid);
    if (!known) return false;
    if (auto* wanted = try_as<InListExpression>(&predicate)) {
      return !wanted->negated && is_short(*wanted) &&
             std::ranges::any_of(wanted->items, [&](const auto* other) {
               std::optional<Comparison> equal =
                   compare(*wanted->operand, *other, wanted->operator_oid);
               return equal && follows(*known, *equal);
             });
    }
    std::optional<Comparison> wanted = comparison_of(predicate);
    return wanted && follows(*known, *wanted);
  });
}

}  // namespace

bool implies(const BoundExpression& condition, const BoundExpression& predicate) {
  if (equal_expressions(&condition, &predicate)) return true;
  auto implies_each = [&](const BoundExpression* part) { return implies(condition, *part); };
  if (auto* all = list_of(predicate, BooleanOperator::and_))
    return std::ranges::all_of(all->arguments, implies_each);
  auto each_implies = [&](const BoundExpression* part) { return implies(*part, predicate); };
  if (auto* some = list_of(condition, BooleanOperator::or_))
    return std::ranges::all_of(some->arguments, each_implies);
  if (auto* all = list_of(condition, BooleanOperator::and_)) {
    if (std::ranges::any_of(all->arguments, each_implies)) return true;
  }
  if (auto* some = list_of(predicate, BooleanOperator::or_))
    return std::ranges::any_of(some->arguments, implies_each);
  return atom_implies(condition, predicate);
}

}  // namespace pgsilo
