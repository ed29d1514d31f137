#include "planner/binder/index_expressions.h"

#include "catalog/builtin/builtin.h"
#include "catalog/descriptors.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

bool is_immutable(Oid procedure) {
  const BuiltinProcedure* found = find_procedure(procedure);
  return found != nullptr && volatility_of(*found) == Volatility::immutable;
}

// The provolatile of typinput; that of typoutput is the same but for times.
bool is_read_immutably(Oid type) {
  switch (type) {
    case type_oid::boolean:
    case type_oid::bytea:
    case type_oid::single_char:
    case type_oid::name:
    case type_oid::int2:
    case type_oid::int4:
    case type_oid::int8:
    case type_oid::int2vector:
    case type_oid::oidvector:
    case type_oid::text:
    case type_oid::bpchar:
    case type_oid::varchar:
    case type_oid::unknown:
    case type_oid::oid:
    case type_oid::tid:
    case type_oid::xid:
    case type_oid::xid8:
    case type_oid::cid:
    case type_oid::float4:
    case type_oid::float8:
    case type_oid::numeric:
    case type_oid::pg_lsn:
    case type_oid::pg_node_tree:
      return true;
    default:
      return false;
  }
}

bool is_printed_immutably(Oid type) {
  return type == type_oid::time || type == type_oid::timetz || is_read_immutably(type);
}

bool converts_immutably(Oid from, Oid to) {
  return is_printed_immutably(from) && is_read_immutably(to);
}

// Its own part of it.
bool computes_immutably(const BoundExpression& node) {
  switch (node.kind) {
    case ExpressionKind::call:
      return as<CallExpression>(&node)->volatility == Volatility::immutable;
    case ExpressionKind::distinct_from:
      return is_immutable(as<DistinctFromExpression>(&node)->equality);
    case ExpressionKind::null_if:
      return is_immutable(as<NullIfExpression>(&node)->equality);
    case ExpressionKind::in_list:
      return is_immutable(as<InListExpression>(&node)->procedure);
    case ExpressionKind::array_comparison:
      return is_immutable(as<ArrayComparisonExpression>(&node)->procedure);
    case ExpressionKind::io_conversion:
      return converts_immutably(as<IoConversionExpression>(&node)->argument->type, node.type);
    case ExpressionKind::array_coercion: {
      const auto& cast = *as<ArrayCoercionExpression>(&node);
      if (cast.procedure != invalid_oid) return is_immutable(cast.procedure);
      return !cast.through_text || converts_immutably(cast.source_element, cast.target_element);
    }
    case ExpressionKind::sql_value:
      return false;
    default:
      return true;
  }
}

}  // namespace

bool is_immutable(const BoundExpression& expression) {
  return !contains(expression,
                   [](const BoundExpression& node) { return !computes_immutably(node); });
}

IndexKeys bind_index_keys(StatementBinding& binding, const IndexDescriptor& index,
                          ColumnMaker column) {
  IndexKeys keys;
  keys.index = &index;
  std::vector<const BoundExpression*> expressions;
  expressions.reserve(index.expressions.size());
  for (const IndexExpression& expression : index.expressions)
    expressions.push_back(read_expression(binding, expression.value, column));
  keys.expressions = binding.arena.copy_span(expressions);
  if (index.is_partial()) keys.predicate = read_expression(binding, index.predicate, column);
  return keys;
}

std::span<const IndexKeys> bind_index_keys(StatementBinding& binding,
                                           const TableDescriptor& table) {
  std::vector<IndexKeys> all;
  auto column = [&](int16_t number, Oid type, int32_t typmod) {
    require_column(number, table.columns.size());
    return make_column(binding.arena, 0, number - 1, type, typmod);
  };
  for (const auto& index : table.indexes) {
    if (index->computes()) all.push_back(bind_index_keys(binding, *index, column));
  }
  return binding.arena.copy_span(all);
}

}  // namespace pgsilo
