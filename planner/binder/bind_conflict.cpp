// INSERT ... ON CONFLICT: which unique indexes decide, and what happens to the row that is there.
#include <algorithm>

#include "catalog/descriptors.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/modification_binder.h"
#include "planner/binder/modification_target.h"
#include "planner/binder/query_binder.h"
#include "sql/ast/ddl.h"
#include "sql/ast/make_node.h"

namespace pgsilo {

namespace {

using Indexes = std::vector<const IndexDescriptor*>;

Indexes unique_indexes(const TableDescriptor& table) {
  Indexes indexes;
  for (const auto& index : table.indexes) {
    if (index->unique) indexes.push_back(index.get());
  }
  return indexes;
}

// The column that an element of the inference list names, also in parentheses; 0: an expression.
int16_t inferred_column(Scope& scope, const ast::IndexElement& element,
                        const ModificationTarget& target, int32_t target_location) {
  std::string_view name = element.column;
  const auto* reference = ast::try_as<ast::ColumnRef>(element.expression);
  if (name.empty() && reference != nullptr && reference->fields.size() == 1)
    name = reference->fields[0];
  if (name.empty()) {
    bind_expression(scope, element.expression, ExpressionPlace::index_expression);
    return 0;
  }
  const ColumnDescriptor* column = target.named().find_column(name);
  if (column != nullptr) {
    // What a view computes is an expression, over which there is no index.
    column = base_column(target, static_cast<size_t>(column->number) - 1);
    if (column == nullptr) return 0;
  }
  if (column == nullptr) {
    throw SqlError(sqlstate::undefined_column, concat("column \"", name, "\" does not exist"))
        .at(scope.position(target_location));
  }
  return column->number;
}

// The unique indexes over exactly these columns, in any order and number, that hold for all rows.
// There are no partial indexes and none on expressions.
Indexes inferred_indexes(Scope& scope, const ast::OnConflict& clause,
                         const ModificationTarget& target) {
  std::vector<int16_t> wanted;
  for (const ast::IndexElement& element : clause.inference)
    wanted.push_back(inferred_column(scope, element, target, clause.target_location));
  bind_condition(scope, clause.inference_where, ExpressionPlace::where, "WHERE");
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  Indexes matching = unique_indexes(*target.table);
  std::erase_if(matching, [&](const IndexDescriptor* index) {
    std::vector<int16_t> columns;
    columns.reserve(index->columns.size());
    for (const IndexColumn& column : index->columns) columns.push_back(column.number);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    return columns != wanted || !index->valid;
  });
  if (!matching.empty()) return matching;
  throw SqlError(sqlstate::invalid_column_reference,
                 "there is no unique or exclusion constraint matching the ON CONFLICT "
                 "specification");
}

Indexes named_index(const TableDescriptor& table, std::string_view name) {
  const ConstraintDescriptor* constraint = table.find_constraint(name);
  if (constraint == nullptr) {
    throw SqlError(sqlstate::undefined_object, concat("constraint \"", name, "\" for table \"",
                                                      table.name, "\" does not exist"));
  }
  const IndexDescriptor* index =
      constraint->foreign_key ? nullptr : table.find_index(constraint->index);
  if (index == nullptr) {
    throw SqlError(sqlstate::wrong_object_type,
                   "constraint in ON CONFLICT clause has no associated index");
  }
  return {index};
}

Indexes arbiters(Scope& scope, const ast::OnConflict& clause, const ModificationTarget& target) {
  if (!clause.constraint_name.empty()) return named_index(target.named(), clause.constraint_name);
  if (clause.has_target) return inferred_indexes(scope, clause, target);
  if (!clause.do_update) return unique_indexes(*target.table);
  throw SqlError(sqlstate::syntax_error,
                 "ON CONFLICT DO UPDATE requires inference specification or constraint name")
      .hint("For example, ON CONFLICT (column_name).")
      .at(scope.position(clause.location));
}

}  // namespace

const BoundConflict* bind_conflict(Scope& with, const ast::InsertStmt& statement,
                                   const ModificationTarget& target) {
  StatementBinding& binding = with.binding;
  const ast::OnConflict& clause = *statement.on_conflict;
  Arena& arena = binding.arena;
  Scope scope(binding, &with);
  add_target(scope, *statement.relation, target);
  auto* conflict = arena.make<BoundConflict>();
  conflict->arbiters = arena.copy_span(arbiters(scope, clause, target));
  conflict->any_index = !clause.has_target;
  conflict->updates = clause.do_update;
  if (!clause.do_update) return conflict;
  conflict->visible = arena.copy_span(target.conditions);
  auto* excluded = ast::make_node<ast::RangeVar>(arena);
  excluded->name = "excluded";
  add_target(scope, *excluded, target);
  conflict->assignments = bind_assignments(scope, clause.assignments, target, PlanKind::insert);
  conflict->where = bind_condition(scope, clause.where, ExpressionPlace::where, "WHERE");
  return conflict;
}

}  // namespace pgsilo
