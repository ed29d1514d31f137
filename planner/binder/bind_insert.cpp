// INSERT.
#include <algorithm>

#include "catalog/descriptors.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/modification_binder.h"
#include "planner/binder/modification_target.h"
#include "planner/binder/query_binder.h"
#include "planner/binder/subscripts.h"
#include "planner/bound/make_expression.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

using Row = std::vector<const BoundExpression*>;

// The columns that values are given for, in the order they are given.
std::vector<SubscriptedTarget> target_columns(Scope& with, const ast::InsertStmt& statement,
                                              const ModificationTarget& changed) {
  StatementBinding& binding = with.binding;
  Scope scope(binding, &with);
  PlaceGuard place(scope, ExpressionPlace::insert_target);
  std::vector<SubscriptedTarget> targets;
  if (statement.columns.empty()) {
    for (size_t i = 0; i < changed.columns.size(); ++i) {
      if (changed.columns[i] == nullptr) continue;
      const ColumnDescriptor* column = base_column(changed, i);
      // Of a view: check_width() sees whether a value is given for it.
      if (column == nullptr) break;
      targets.push_back({.column = column});
    }
    return targets;
  }
  for (const ast::Assignment& named : statement.columns) {
    const ColumnDescriptor& column = find_target_column(binding, changed, named, PlanKind::insert);
    // Several parts of a column are one target each.
    for (size_t i = 0; i < targets.size(); ++i) {
      if (statement.columns[i].column != named.column ||
          (!targets[i].is_whole() && !named.indirection.empty()))
        continue;
      throw SqlError(sqlstate::duplicate_column,
                     concat("column \"", named.column, "\" specified more than once"))
          .at(binding.position(named.location));
    }
    targets.push_back(bind_target_subscripts(scope, named, column));
  }
  return targets;
}

// What an INSERT gives values for.
struct InsertTarget {
  const ModificationTarget& changed;
  std::vector<SubscriptedTarget> columns;
};

// 42601: two columns of a view that show one of the table's.
void check_assigned_once(const InsertTarget& target, size_t given) {
  if (target.changed.view == nullptr) return;
  for (size_t i = 0; i < given; ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (target.columns[i].column != target.columns[j].column || !target.columns[i].is_whole() ||
          !target.columns[j].is_whole())
        continue;
      throw SqlError(sqlstate::syntax_error, concat("multiple assignments to same column \"",
                                                    target.columns[i].column->name, "\""));
    }
  }
}

void check_width(StatementBinding& binding, const ast::InsertStmt& statement,
                 const InsertTarget& target, std::span<const int32_t> locations) {
  const std::vector<SubscriptedTarget>& targets = target.columns;
  if (locations.size() > targets.size()) {
    if (target.changed.view != nullptr && targets.size() < target.changed.columns.size())
      throw_not_base_column(target.changed, targets.size(), PlanKind::insert);
    throw SqlError(sqlstate::syntax_error, "INSERT has more expressions than target columns")
        .at(binding.position(locations[targets.size()]));
  }
  if (!statement.columns.empty() && locations.size() < targets.size()) {
    throw SqlError(sqlstate::syntax_error, "INSERT has more target columns than expressions")
        .at(binding.position(targets[locations.size()].location));
  }
}

// OVERRIDING USER VALUE: what is given for an identity column is not even computed.
bool is_overridden(const ast::InsertStmt& statement, const ColumnDescriptor& column) {
  return column.identity != IdentityKind::none &&
         statement.overriding == ast::Overriding::user_value;
}

// Whether every row of VALUES says DEFAULT for target `index`.
bool is_always_default(const ast::InsertStmt& statement, size_t index) {
  if (statement.source == nullptr || statement.source->values_lists.empty()) return false;
  const auto& rows = statement.source->values_lists;
  return std::all_of(rows.begin(), rows.end(), [&](const ast::NodeList& row) {
    return index < row.size() && row[index]->kind == ast::NodeKind::set_to_default;
  });
}

// 428C9 for values that are given for columns GENERATED ALWAYS.
void check_generated(const ast::InsertStmt& statement, std::span<const SubscriptedTarget> targets,
                     size_t given) {
  bool overrides = statement.overriding != ast::Overriding::unspecified;
  for (size_t i = 0; i < given; ++i) {
    const ColumnDescriptor& column = *targets[i].column;
    bool takes_none = column.identity == IdentityKind::always && !overrides;
    if ((!takes_none && !column.generated) || is_always_default(statement, i)) continue;
    SqlError error(sqlstate::generated_always,
                   concat("cannot insert a non-DEFAULT value into column \"", column.name, "\""));
    if (column.generated)
      throw std::move(error).detail(concat("Column \"", column.name, "\" is a generated column."));
    throw std::move(error)
        .detail(concat("Column \"", column.name,
                       "\" is an identity column defined as GENERATED ALWAYS."))
        .hint("Use OVERRIDING SYSTEM VALUE to override.");
  }
}

// What is computed from the other columns waits until they are known.
const BoundExpression* default_of(StatementBinding& binding, const ColumnDescriptor& column) {
  return column.generated ? make_null(binding.arena, column.type)
                          : bind_column_default(binding, column);
}

Row bind_row(Scope& scope, const ast::InsertStmt& statement, const InsertTarget& target,
             ast::NodeList values, ExpressionPlace place) {
  StatementBinding& binding = scope.binding;
  const std::vector<SubscriptedTarget>& targets = target.columns;
  std::vector<int32_t> locations;
  Row bound;
  for (const ast::Node* value : values) {
    locations.push_back(value->location);
    bool is_default = value->kind == ast::NodeKind::set_to_default;
    bound.push_back(is_default ? nullptr : bind_expression(scope, value, place));
    if (bound.back() != nullptr) locations.back() = bound.back()->location;
  }
  check_width(binding, statement, target, locations);
  for (size_t i = 0; i < bound.size(); ++i) {
    const ColumnDescriptor& column = *targets[i].column;
    bool is_default = bound[i] == nullptr && targets[i].is_whole();
    bound[i] = is_default || is_overridden(statement, column)
                   ? default_of(binding, column)
                   : coerce_to_subscripted(binding, bound[i], targets[i]);
  }
  return bound;
}

// Several rows of VALUES as a relation; its columns are as many target columns as the rows have
// values.
BoundQuery* bind_rows(Scope& with, const ast::InsertStmt& statement, const InsertTarget& target) {
  StatementBinding& binding = with.binding;
  const std::vector<SubscriptedTarget>& targets = target.columns;
  Scope scope(binding, &with);
  Arena& arena = binding.arena;
  const auto& lists = statement.source->values_lists;
  auto rows = arena.make_span<ExpressionList>(lists.size());
  for (size_t i = 0; i < lists.size(); ++i) {
    if (lists[i].size() != lists[0].size()) {
      throw SqlError(sqlstate::syntax_error, "VALUES lists must all be the same length")
          .at(binding.position(lists[i].front()->location));
    }
    rows[i] =
        arena.copy_span(bind_row(scope, statement, target, lists[i], ExpressionPlace::values));
  }
  auto* relation = arena.make<BoundRelation>();
  relation->kind = RangeKind::values;
  relation->alias = "*VALUES*";
  relation->rows = rows;
  auto columns = arena.make_span<BoundColumn>(rows[0].size());
  auto result = arena.make_span<BoundTarget>(rows[0].size());
  for (size_t i = 0; i < columns.size(); ++i) {
    columns[i] = {arena.copy_string(concat("column", i + 1)), assigned_type(targets[i]),
                  targets[i].column->typmod};
    result[i].name = columns[i].name;
    result[i].expression =
        make_column(arena, 0, static_cast<int32_t>(i), columns[i].type, targets[i].column->typmod);
  }
  relation->columns = columns;
  auto* shape = arena.make<FromItem>();
  shape->relation = 0;
  auto* query = arena.make<BoundQuery>();
  query->relations = arena.copy_span(std::initializer_list<const BoundRelation*>{relation});
  query->from = arena.copy_span(std::initializer_list<const FromItem*>{shape});
  query->targets = result;
  query->visible_targets = static_cast<int32_t>(result.size());
  return query;
}

// One row of VALUES with functions that return sets: a query of as many rows as those. Leaves its
// output as the row.
BoundQuery* bind_row_of_sets(StatementBinding& binding, std::span<const SubscriptedTarget> targets,
                             Row& row) {
  Arena& arena = binding.arena;
  auto outputs = arena.make_span<BoundTarget>(row.size());
  for (size_t i = 0; i < row.size(); ++i) {
    const ColumnDescriptor& column = *targets[i].column;
    outputs[i] = {.expression = row[i], .name = column.name};
    row[i] =
        make_column(arena, 0, static_cast<int32_t>(i), assigned_type(targets[i]), column.typmod);
  }
  auto* query = arena.make<BoundQuery>();
  query->targets = outputs;
  query->visible_targets = static_cast<int32_t>(outputs.size());
  query->has_set_returning_targets = true;
  return query;
}

// The values for the target columns, over the source's output as relation 0.
Row source_columns(StatementBinding& binding, const ast::InsertStmt& statement,
                   const InsertTarget& target, const BoundQuery& source) {
  const std::vector<SubscriptedTarget>& targets = target.columns;
  std::vector<int32_t> locations;
  locations.reserve(static_cast<size_t>(source.visible_targets));
  for (int32_t i = 0; i < source.visible_targets; ++i) {
    locations.push_back(source.targets[i].expression->location);
  }
  check_width(binding, statement, target, locations);
  Row values;
  for (size_t i = 0; i < locations.size(); ++i) {
    const BoundExpression* output = source.targets[i].expression;
    if (is_overridden(statement, *targets[i].column)) {
      values.push_back(bind_column_default(binding, *targets[i].column));
      continue;
    }
    // A literal of unknown type becomes what the column wants.
    bool is_literal =
        output->type == type_oid::unknown &&
        (output->kind == ExpressionKind::constant || output->kind == ExpressionKind::parameter);
    const BoundExpression* value =
        is_literal ? output
                   : make_column(binding.arena, 0, static_cast<int32_t>(i), output->type,
                                 output->typmod, output->location);
    values.push_back(coerce_to_subscripted(binding, value, targets[i]));
  }
  return values;
}

bool is_plain_values(const ast::SelectStmt& source) {
  return !source.values_lists.empty() && source.order_by.empty() && source.limit_count == nullptr &&
         source.limit_offset == nullptr && source.with == nullptr && source.locking.empty();
}

}  // namespace

BoundModification* bind_insert(StatementBinding& binding, const ast::InsertStmt& statement) {
  Arena& arena = binding.arena;
  // Around everything else, which has no column of it in sight.
  Scope with(binding, nullptr);
  bind_with(with, statement.with);
  auto* insert = arena.make<BoundModification>();
  insert->kind = PlanKind::insert;
  ModificationTarget changed = find_modified(binding, *statement.relation, PlanKind::insert);
  insert->table = changed.table;
  const TableDescriptor& table = *changed.table;
  InsertTarget target{changed, target_columns(with, statement, changed)};
  const std::vector<SubscriptedTarget>& targets = target.columns;
  Row given;
  if (statement.source != nullptr && is_plain_values(*statement.source)) {
    if (statement.source->values_lists.size() == 1) {
      Scope scope(binding, &with);
      given = bind_row(scope, statement, target, statement.source->values_lists[0],
                       ExpressionPlace::values_single);
      if (scope.has_set_returning) insert->source = bind_row_of_sets(binding, targets, given);
    } else {
      BoundQuery* rows = bind_rows(with, statement, target);
      insert->source = rows;
      for (int32_t i = 0; i < rows->visible_targets; ++i)
        given.push_back(rows->targets[i].expression);
    }
  } else if (statement.source != nullptr) {
    BoundQuery* source = bind_query(binding, *statement.source, &with, false);
    insert->source = source;
    given = source_columns(binding, statement, target, *source);
  }
  check_assigned_once(target, given.size());
  check_generated(statement, targets, given.size());
  auto values = arena.make_span<const BoundExpression*>(table.columns.size());
  for (size_t i = 0; i < given.size(); ++i) {
    if (targets[i].column->generated) continue;
    const BoundExpression*& value = values[targets[i].column->number - 1];
    if (targets[i].is_whole()) {
      value = given[i];
      continue;
    }
    if (value == nullptr) value = make_null(arena, base_type_of(targets[i].column->type));
    value = assign_to_part(binding, targets[i], value, given[i]);
  }
  for (const ColumnDescriptor& column : table.columns) {
    const BoundExpression*& value = values[column.number - 1];
    if (value == nullptr && !column.dropped && !column.generated)
      value = bind_column_default(binding, column);
  }
  insert->values = values;
  insert->generated = bind_generated(binding, table);
  rest_on_referenced_tables(binding, table, {});
  insert->checks = bind_checks(binding, changed);
  if (statement.on_conflict != nullptr) insert->conflict = bind_conflict(with, statement, changed);
  Scope scope(binding, &with);
  add_target(scope, *statement.relation, changed);
  insert->alias = scope.relations[0]->alias;
  insert->index_keys = scope.relations[0]->index_keys;
  insert->returning = bind_returning(scope, statement.returning);
  return insert;
}

}  // namespace pgsilo
