#include "planner/bound/expression_tree.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/long_work.h"
#include "planner/bound/query_tree.h"
#include "sql/internal_error.h"
#include "sql/types/type.h"

namespace pgsilo {

bool sign_differs(Oid from, Oid to) {
  auto key_form = [](Oid type) {
    const TypeInfo* info = find_type(type);
    return info != nullptr ? info->key_form : KeyForm::none;
  };
  KeyForm before = key_form(from);
  KeyForm after = key_form(to);
  return (before == KeyForm::int32 && after == KeyForm::uint32) ||
         (before == KeyForm::uint32 && after == KeyForm::int32);
}

namespace {

// Of a visit to a node, in bytes (WorkMeter::block).
constexpr size_t visit_work = 256;

using Child = const BoundExpression*;

// One list of every node type's children serves walking, copying and comparing: `f(field)` is
// called for each field that holds children.
template <typename N, typename F>
void children(N&, F&&)
  requires std::is_same_v<std::remove_const_t<N>, ConstantExpression> ||
           std::is_same_v<std::remove_const_t<N>, ParameterExpression> ||
           std::is_same_v<std::remove_const_t<N>, SlotExpression> ||
           std::is_same_v<std::remove_const_t<N>, ExecutionParameterExpression> ||
           std::is_same_v<std::remove_const_t<N>, ColumnExpression> ||
           std::is_same_v<std::remove_const_t<N>, SqlValueExpression>
{}

template <typename N, typename T>
concept NodeOf = std::is_same_v<std::remove_const_t<N>, T>;

template <typename N, typename F>
void children(N& node, F&& f)
  requires NodeOf<N, CallExpression> || NodeOf<N, BooleanExpression> ||
           NodeOf<N, CoalesceExpression> || NodeOf<N, MinMaxExpression>
{
  f(node.arguments);
}

template <typename N, typename F>
void children(N& node, F&& f)
  requires NodeOf<N, NullTestExpression> || NodeOf<N, BooleanTestExpression> ||
           NodeOf<N, RelabelExpression> || NodeOf<N, IoConversionExpression> ||
           NodeOf<N, ArrayCoercionExpression> || NodeOf<N, TypmodCoercionExpression> ||
           NodeOf<N, DomainCoercionExpression>
{
  f(node.argument);
}

template <typename N, typename F>
void children(N& node, F&& f)
  requires NodeOf<N, DistinctFromExpression>
{
  f(node.left);
  f(node.right);
}

template <typename N, typename F>
void children(N& node, F&& f)
  requires NodeOf<N, CaseExpression>
{
  f(node.argument);
  f(node.whens);
  f(node.otherwise);
}

template <typename N, typename F>
void children(N& node, F&& f)
  requires NodeOf<N, NullIfExpression>
{
  f(node.left);
  f(node.right);
}

template <typename N, typename F>
void children(N& node, F&& f)
  requires NodeOf<N, InListExpression>
{
  f(node.operand);
  f(node.items);
}

template <typename N, typename F>
void children(N& node, F&& f)
  requires NodeOf<N, ArrayComparisonExpression>
{
  f(node.operand);
  f(node.array);
}

template <typename N, typename F>
void children(N& node, F&& f)
  requires NodeOf<N, ArrayExpression>
{
  f(node.elements);
}

template <typename N, typename F>
void children(N& node, F&& f)
  requires NodeOf<N, RowExpression>
{
  f(node.fields);
}

template <typename N, typename F>
void children(N& node, F&& f)
  requires NodeOf<N, SubplanExpression>
{
  f(node.arguments);
  f(node.condition);
  f(node.hash_keys);
  f(node.row_keys);
}

template <typename N, typename F>
void children(N& node, F&& f)
  requires NodeOf<N, AggregateExpression>
{
  f(node.arguments);
  f(node.filter);
  f(node.order_by);
}

template <typename N, typename F>
void children(N& node, F&& f)
  requires NodeOf<N, SublinkExpression>
{
  f(node.condition);
}

template <typename N, typename F>
void children(N& node, F&& f)
  requires NodeOf<N, SetReturningExpression>
{
  const BoundExpression* call = node.call;
  f(call);
  if constexpr (!std::is_const_v<N>) node.call = as<CallExpression>(call);
}

// As dispatch(), of what makes a value one of another type.
template <typename F>
auto dispatch_conversion(const BoundExpression& node, F&& f) {
  switch (node.kind) {
    case ExpressionKind::relabel:
      return f(static_cast<const RelabelExpression&>(node));
    case ExpressionKind::io_conversion:
      return f(static_cast<const IoConversionExpression&>(node));
    case ExpressionKind::array_coercion:
      return f(static_cast<const ArrayCoercionExpression&>(node));
    case ExpressionKind::typmod_coercion:
      return f(static_cast<const TypmodCoercionExpression&>(node));
    default:
      return f(static_cast<const DomainCoercionExpression&>(node));
  }
}

// Calls `f(node as its own type)`.
template <typename F>
auto dispatch(const BoundExpression& node, F&& f) {
  switch (node.kind) {
    case ExpressionKind::constant:
      return f(static_cast<const ConstantExpression&>(node));
    case ExpressionKind::parameter:
      return f(static_cast<const ParameterExpression&>(node));
    case ExpressionKind::slot:
      return f(static_cast<const SlotExpression&>(node));
    case ExpressionKind::execution_parameter:
      return f(static_cast<const ExecutionParameterExpression&>(node));
    case ExpressionKind::column:
      return f(static_cast<const ColumnExpression&>(node));
    case ExpressionKind::call:
      return f(static_cast<const CallExpression&>(node));
    case ExpressionKind::boolean:
      return f(static_cast<const BooleanExpression&>(node));
    case ExpressionKind::null_test:
      return f(static_cast<const NullTestExpression&>(node));
    case ExpressionKind::boolean_test:
      return f(static_cast<const BooleanTestExpression&>(node));
    case ExpressionKind::distinct_from:
      return f(static_cast<const DistinctFromExpression&>(node));
    case ExpressionKind::case_when:
      return f(static_cast<const CaseExpression&>(node));
    case ExpressionKind::coalesce:
      return f(static_cast<const CoalesceExpression&>(node));
    case ExpressionKind::null_if:
      return f(static_cast<const NullIfExpression&>(node));
    case ExpressionKind::min_max:
      return f(static_cast<const MinMaxExpression&>(node));
    case ExpressionKind::in_list:
      return f(static_cast<const InListExpression&>(node));
    case ExpressionKind::array_comparison:
      return f(static_cast<const ArrayComparisonExpression&>(node));
    case ExpressionKind::array:
      return f(static_cast<const ArrayExpression&>(node));
    case ExpressionKind::relabel:
    case ExpressionKind::io_conversion:
    case ExpressionKind::array_coercion:
    case ExpressionKind::typmod_coercion:
    case ExpressionKind::domain_coercion:
      return dispatch_conversion(node, f);
    case ExpressionKind::sql_value:
      return f(static_cast<const SqlValueExpression&>(node));
    case ExpressionKind::row:
      return f(static_cast<const RowExpression&>(node));
    case ExpressionKind::subplan:
      return f(static_cast<const SubplanExpression&>(node));
    case ExpressionKind::aggregate:
      return f(static_cast<const AggregateExpression&>(node));
    case ExpressionKind::sublink:
      return f(static_cast<const SublinkExpression&>(node));
    case ExpressionKind::set_returning:
      return f(static_cast<const SetReturningExpression&>(node));
  }
  PGSILO_REQUIRE(false);
}

struct Visitor {
  FunctionRef<void(const BoundExpression&)> visit;

  void operator()(Child child) const {
    if (child != nullptr) visit(*child);
  }
  void operator()(ExpressionList list) const {
    for (Child child : list) visit(*child);
  }
  void operator()(std::span<const BoundWhen> whens) const {
    for (const BoundWhen& when : whens) {
      visit(*when.condition);
      visit(*when.result);
    }
  }
  void operator()(std::span<const BoundSortKey> keys) const {
    for (const BoundSortKey& key : keys) visit(*key.expression);
  }
  void operator()(std::span<const SubplanArgument> arguments) const {
    for (const SubplanArgument& argument : arguments) visit(*argument.value);
  }
};

struct Mapper {
  Arena& arena;
  FunctionRef<const BoundExpression*(const BoundExpression*)> map;
  bool changed = false;

  void operator()(Child& child) {
    if (child == nullptr) return;
    Child mapped = map(child);
    changed |= mapped != child;
    child = mapped;
  }
  void operator()(ExpressionList& list) {
    std::span<Child> copy;
    for (size_t i = 0; i < list.size(); ++i) {
      Child mapped = map(list[i]);
      if (mapped != list[i] && copy.empty()) copy = arena.copy_span(list);
      if (!copy.empty()) copy[i] = mapped;
    }
    if (copy.empty()) return;
    list = copy;
    changed = true;
  }
  // Lists of small structs: copied whole, `child_of` names the pointers inside.
  template <typename T, typename F>
  void each(std::span<const T>& list, F&& child_of) {
    std::span<T> copy = arena.copy_span(list);
    bool before = changed;
    changed = false;
    for (T& item : copy) child_of(item);
    if (changed) list = copy;
    changed |= before;
  }
  void operator()(std::span<const BoundWhen>& whens) {
    each(whens, [&](BoundWhen& when) {
      (*this)(when.condition);
      (*this)(when.result);
    });
  }
  void operator()(std::span<const BoundSortKey>& keys) {
    each(keys, [&](BoundSortKey& key) { (*this)(key.expression); });
  }
  void operator()(std::span<const SubplanArgument>& arguments) {
    each(arguments, [&](SubplanArgument& argument) { (*this)(argument.value); });
  }
};

bool equal_constants(const ConstantExpression& left, const ConstantExpression& right) {
  if (left.value.null || right.value.null) return left.value.null == right.value.null;
  const TypeInfo* type = find_type(left.type);
  if (type != nullptr && !type->by_reference) return left.value.i64 == right.value.i64;
  return left.value.bytes() == right.value.bytes();
}

// What is compared beside kind, type, typmod and children.
bool equal_scalars(const BoundExpression& left, const BoundExpression& right) {
  return dispatch(left, [&]<typename T>(const T& a) {
    const T& b = static_cast<const T&>(right);
    if constexpr (std::is_same_v<T, ConstantExpression>) {
      return equal_constants(a, b);
    } else if constexpr (std::is_same_v<T, ParameterExpression>) {
      return a.index == b.index;
    } else if constexpr (std::is_same_v<T, SlotExpression>) {
      return a.slot == b.slot;
    } else if constexpr (std::is_same_v<T, ColumnExpression>) {
      return a.relation == b.relation && a.column == b.column && a.levels_up == b.levels_up;
    } else if constexpr (std::is_same_v<T, CallExpression>) {
      return a.procedure == b.procedure && a.variadic == b.variadic;
    } else if constexpr (std::is_same_v<T, BooleanExpression>) {
      return a.op == b.op;
    } else if constexpr (std::is_same_v<T, NullTestExpression>) {
      return a.is_not_null == b.is_not_null;
    } else if constexpr (std::is_same_v<T, BooleanTestExpression>) {
      return a.test == b.test;
    } else if constexpr (std::is_same_v<T, DistinctFromExpression>) {
      return a.equality == b.equality && a.negated == b.negated;
    } else if constexpr (std::is_same_v<T, NullIfExpression>) {
      return a.equality == b.equality;
    } else if constexpr (std::is_same_v<T, MinMaxExpression>) {
      return a.is_least == b.is_least;
    } else if constexpr (std::is_same_v<T, InListExpression>) {
      return a.procedure == b.procedure && a.negated == b.negated;
    } else if constexpr (std::is_same_v<T, ArrayComparisonExpression>) {
      return a.procedure == b.procedure && a.is_all == b.is_all;
    } else if constexpr (std::is_same_v<T, TypmodCoercionExpression>) {
      return a.explicit_cast == b.explicit_cast;
    } else if constexpr (std::is_same_v<T, SqlValueExpression>) {
      return a.value == b.value;
    } else if constexpr (std::is_same_v<T, AggregateExpression>) {
      return a.procedure == b.procedure && a.star == b.star && a.distinct == b.distinct &&
             a.levels_up == b.levels_up &&
             std::ranges::equal(
                 a.order_by, b.order_by, [](const BoundSortKey& x, const BoundSortKey& y) {
                   return x.descending == y.descending && x.nulls_first == y.nulls_first;
                 });
    } else if constexpr (std::is_same_v<T, SublinkExpression>) {
      return a.sublink_kind == b.sublink_kind && a.column == b.column &&
             equal_queries(*a.query, *b.query);
    } else if constexpr (std::is_same_v<T, CaseExpression>) {
      return (a.argument == nullptr) == (b.argument == nullptr);
    } else if constexpr (std::is_same_v<T, SubplanExpression>) {
      return &a == &b;
    } else {
      return true;
    }
  });
}

// CASE with an argument and IN (SELECT ...) name theirs by execution parameters, each its own: two
// are equal if they say the same with the right one's for the left one's.
class Comparison {
 public:
  bool equal(Child left, Child right) {
    did_work(visit_work / 4);
    if (left == right && renamed_.empty()) return true;
    if (left == nullptr || right == nullptr) return false;
    if (left->kind != right->kind || left->type != right->type || left->typmod != right->typmod)
      return false;
    if (auto* parameter = try_as<ExecutionParameterExpression>(left))
      return equal_parameters(parameter->index, as<ExecutionParameterExpression>(right)->index);
    if (!equal_scalars(*left, *right)) return false;
    size_t known = renamed_.size();
    if (!rename(*left, *right)) return false;
    bool same = equal_children(*left, *right);
    renamed_.resize(known);
    return same;
  }

 private:
  struct Pair {
    int32_t left;
    int32_t right;
  };

  bool equal_parameters(int32_t left, int32_t right) const {
    for (const Pair& pair : renamed_) {
      if (pair.left == left || pair.right == right) return pair.left == left && pair.right == right;
    }
    return left == right;
  }

  // False: they do not have the same number of parameters.
  bool rename(const BoundExpression& left, const BoundExpression& right) {
    if (auto* chosen = try_as<CaseExpression>(&left); chosen != nullptr && chosen->argument) {
      renamed_.push_back(
          {chosen->argument_parameter, as<CaseExpression>(&right)->argument_parameter});
    }
    auto* sublink = try_as<SublinkExpression>(&left);
    if (sublink == nullptr) return true;
    auto mine = sublink->row_parameters;
    auto others = as<SublinkExpression>(&right)->row_parameters;
    if (mine.size() != others.size()) return false;
    for (size_t i = 0; i < mine.size(); ++i) renamed_.push_back({mine[i], others[i]});
    return true;
  }

  bool equal_children(const BoundExpression& left, const BoundExpression& right) {
    std::vector<Child> mine;
    std::vector<Child> others;
    for_each_child(left, [&](const BoundExpression& child) { mine.push_back(&child); });
    for_each_child(right, [&](const BoundExpression& child) { others.push_back(&child); });
    return std::ranges::equal(mine, others, [&](Child a, Child b) { return equal(a, b); });
  }

  std::vector<Pair> renamed_;
};

}  // namespace

void for_each_child(const BoundExpression& expression,
                    FunctionRef<void(const BoundExpression&)> visit) {
  did_work(visit_work);
  dispatch(expression, [&](const auto& node) { children(node, Visitor{visit}); });
}

const BoundExpression* map_children(
    Arena& arena, const BoundExpression* expression,
    FunctionRef<const BoundExpression*(const BoundExpression*)> map) {
  did_work(visit_work);
  return dispatch(*expression, [&]<typename T>(const T& node) -> const BoundExpression* {
    T copy = node;
    Mapper mapper{arena, map};
    children(copy, mapper);
    return mapper.changed ? arena.make<T>(copy) : expression;
  });
}

bool contains(const BoundExpression& expression,
              FunctionRef<bool(const BoundExpression&)> matches) {
  if (matches(expression)) return true;
  bool found = false;
  for_each_child(expression,
                 [&](const BoundExpression& child) { found = found || contains(child, matches); });
  return found;
}

const BoundExpression* without_relabel(const BoundExpression* expression) {
  const auto* relabel = try_as<RelabelExpression>(expression);
  return relabel != nullptr && !relabel->changes_sign() ? without_relabel(relabel->argument)
                                                        : expression;
}

bool equal_expressions(const BoundExpression* left, const BoundExpression* right) {
  return Comparison().equal(left, right);
}

namespace {
bool begins_with_operand(ExpressionKind kind) {
  switch (kind) {
    case ExpressionKind::call:
    case ExpressionKind::boolean:
    case ExpressionKind::null_test:
    case ExpressionKind::boolean_test:
    case ExpressionKind::distinct_from:
    case ExpressionKind::null_if:
    case ExpressionKind::in_list:
    case ExpressionKind::array_comparison:
    case ExpressionKind::relabel:
    case ExpressionKind::io_conversion:
    case ExpressionKind::array_coercion:
    case ExpressionKind::typmod_coercion:
    case ExpressionKind::domain_coercion:
      return true;
    default:
      return false;
  }
}
}  // namespace

int32_t first_location(const BoundExpression& expression) {
  int32_t first = expression.location;
  if (!begins_with_operand(expression.kind)) return first;
  // The others are not looked at, though AT TIME ZONE has its second operand first.
  int32_t operand = -1;
  for_each_child(expression, [&](const BoundExpression& child) {
    if (operand < 0) operand = first_location(child);
  });
  return operand >= 0 && (first < 0 || operand < first) ? operand : first;
}

}  // namespace pgsilo
