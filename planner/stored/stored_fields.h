// The stored format of every node in one place: `fields(io, node)` names a node's fields in the
// order in which they are stored, to who writes (fields are const) and to who reads them. What is
// not named is known otherwise: a call's volatility from its procedure. New kinds and words may be
// added; those that there are stay as they are, or the format's version changes. Thread safety:
// pure functions of what they are given.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

#include "planner/bound/expression.h"

namespace pgsilo::stored {

using Words = std::span<const std::string_view>;

inline constexpr std::string_view call_forms[] = {"function", "infix_operator", "explicit_cast",
                                                  "implicit_cast", "sql_syntax"};
inline constexpr std::string_view boolean_operators[] = {"and", "or", "not"};
inline constexpr std::string_view boolean_tests[] = {"true",      "not_true", "false",
                                                     "not_false", "unknown",  "not_unknown"};
inline constexpr std::string_view sql_values[] = {
    "current_date", "current_time", "current_timestamp", "localtime",     "localtimestamp",
    "current_user", "session_user", "current_catalog",   "current_schema"};

inline constexpr std::string_view sublink_kinds[] = {"exists", "scalar", "any", "all", "array"};
inline constexpr std::string_view cte_modes[] = {"unspecified", "materialized", "not_materialized"};
inline constexpr std::string_view range_kinds[] = {"table",  "subquery", "function",
                                                   "values", "cte",      "work_table"};
inline constexpr std::string_view join_types[] = {"inner", "left", "right", "full"};
inline constexpr std::string_view set_operations[] = {"none", "union", "intersect", "except"};
inline constexpr std::string_view lock_strengths[] = {"key_share", "share", "no_key_update",
                                                      "update"};
inline constexpr std::string_view lock_waits[] = {"block", "skip_locked", "nowait"};

template <typename N, typename T>
concept NodeOf = std::same_as<std::remove_const_t<N>, T>;

// Constants, columns and CASE with its stand-in are the writer's and the reader's own.
template <typename Io, NodeOf<CallExpression> N>
void fields(Io& io, N& node) {
  io.oid(node.procedure);
  io.oid(node.operator_oid);
  io.word(node.form, Words(call_forms));
  io.flag(node.variadic);
  io.list(node.arguments);
}

template <typename Io, NodeOf<BooleanExpression> N>
void fields(Io& io, N& node) {
  io.word(node.op, Words(boolean_operators));
  io.list(node.arguments);
}

template <typename Io, NodeOf<NullTestExpression> N>
void fields(Io& io, N& node) {
  io.flag(node.is_not_null);
  io.child(node.argument);
}

template <typename Io, NodeOf<BooleanTestExpression> N>
void fields(Io& io, N& node) {
  io.word(node.test, Words(boolean_tests));
  io.child(node.argument);
}

template <typename Io, NodeOf<DistinctFromExpression> N>
void fields(Io& io, N& node) {
  io.oid(node.equality);
  io.flag(node.negated);
  io.child(node.left);
  io.child(node.right);
}

template <typename Io, NodeOf<CoalesceExpression> N>
void fields(Io& io, N& node) {
  io.list(node.arguments);
}

template <typename Io, NodeOf<NullIfExpression> N>
void fields(Io& io, N& node) {
  io.oid(node.equality);
  io.child(node.left);
  io.child(node.right);
}

template <typename Io, NodeOf<MinMaxExpression> N>
void fields(Io& io, N& node) {
  io.flag(node.is_least);
  io.list(node.arguments);
}

template <typename Io, NodeOf<InListExpression> N>
void fields(Io& io, N& node) {
  io.oid(node.procedure);
  io.oid(node.operator_oid);
  io.flag(node.negated);
  io.child(node.operand);
  io.list(node.items);
}

template <typename Io, NodeOf<ArrayComparisonExpression> N>
void fields(Io& io, N& node) {
  io.oid(node.procedure);
  io.oid(node.operator_oid);
  io.oid(node.element_type);
  io.flag(node.is_all);
  io.child(node.operand);
  io.child(node.array);
}

template <typename Io, NodeOf<ArrayExpression> N>
void fields(Io& io, N& node) {
  io.oid(node.element_type);
  io.flag(node.of_arrays);
  io.list(node.elements);
}

template <typename Io, NodeOf<RelabelExpression> N>
void fields(Io& io, N& node) {
  io.word(node.form, Words(call_forms));
  io.child(node.argument);
}

template <typename Io, NodeOf<IoConversionExpression> N>
void fields(Io& io, N& node) {
  io.word(node.form, Words(call_forms));
  io.child(node.argument);
}

template <typename Io, NodeOf<ArrayCoercionExpression> N>
void fields(Io& io, N& node) {
  io.word(node.form, Words(call_forms));
  io.oid(node.source_element);
  io.oid(node.target_element);
  io.oid(node.procedure);
  io.flag(node.through_text);
  io.child(node.argument);
}

template <typename Io, NodeOf<TypmodCoercionExpression> N>
void fields(Io& io, N& node) {
  io.flag(node.explicit_cast);
  io.child(node.argument);
}

template <typename Io, NodeOf<DomainCoercionExpression> N>
void fields(Io& io, N& node) {
  io.word(node.form, Words(call_forms));
  io.child(node.argument);
}

template <typename Io, NodeOf<SqlValueExpression> N>
void fields(Io& io, N& node) {
  io.word(node.value, Words(sql_values));
}

template <typename Io, NodeOf<RowExpression> N>
void fields(Io& io, N& node) {
  io.list(node.fields);
}

template <typename Io, NodeOf<AggregateExpression> N>
void fields(Io& io, N& node) {
  io.oid(node.procedure);
  io.flag(node.star);
  io.flag(node.distinct);
  io.number(node.levels_up);
  io.child(node.filter);
  io.sort_keys(node.order_by);
  io.list(node.arguments);
}

template <typename Io, NodeOf<SetReturningExpression> N>
void fields(Io& io, N& node) {
  io.child(node.call);
}

// The kinds whose fields are above: `f.template operator()<Node>(name)` until one answers true.
template <typename F>
bool any_kind(F&& f) {
  return f.template operator()<CallExpression>("call") ||
         f.template operator()<BooleanExpression>("boolean") ||
         f.template operator()<NullTestExpression>("null_test") ||
         f.template operator()<BooleanTestExpression>("boolean_test") ||
         f.template operator()<DistinctFromExpression>("distinct_from") ||
         f.template operator()<CoalesceExpression>("coalesce") ||
         f.template operator()<NullIfExpression>("null_if") ||
         f.template operator()<MinMaxExpression>("min_max") ||
         f.template operator()<InListExpression>("in_list") ||
         f.template operator()<ArrayComparisonExpression>("array_comparison") ||
         f.template operator()<ArrayExpression>("array") ||
         f.template operator()<RelabelExpression>("relabel") ||
         f.template operator()<IoConversionExpression>("io_conversion") ||
         f.template operator()<ArrayCoercionExpression>("array_coercion") ||
         f.template operator()<TypmodCoercionExpression>("typmod_coercion") ||
         f.template operator()<DomainCoercionExpression>("domain_coercion") ||
         f.template operator()<SqlValueExpression>("sql_value") ||
         f.template operator()<RowExpression>("row") ||
         f.template operator()<AggregateExpression>("aggregate") ||
         f.template operator()<SetReturningExpression>("set_returning");
}

}  // namespace pgsilo::stored
