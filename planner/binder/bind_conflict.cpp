// INSERT ... ON CONFLICT: which unique indexes decide, and what happens to the row that is there.
#include <algorithm>

#include "catalog/descriptors.h"
#include "planner/access/predicate_proof.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/modification_binder.h"
#include "planner/binder/modification_target.h"
#include "planner/binder/query_binder.h"
#include "planner/bound/expression_tree.h"
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

// What an element of the inference list names: a column, or (number 0) an expression.
struct Inferred {
  int16_t number = 0;
  const BoundExpression* expression = nullptr;
};

Inferred infer(Scope& scope, const ast::IndexElement& element, const ModificationTarget& target,
               int32_t target_location) {
  std::string_view name = element.column;
  const auto* reference = ast::try_as<ast::ColumnRef>(element.expression);
  if (name.empty() && reference != nullptr && reference->fields.size() == 1)
    name = reference->fields[0];
  if (name.empty())
    return {0, bind_expression(scope, element.expression, ExpressionPlace::index_expression)};
  const ColumnDescriptor* column = target.named().find_column(name);
  if (column == nullptr) {
    throw SqlError(sqlstate::undefined_column, concat("column \"", name, "\" does not exist"))
        .at(scope.position(target_location));
  }
  // What a view computes is an expression.
  const ColumnDescriptor* base = base_column(target, static_cast<size_t>(column->number) - 1);
  if (base != nullptr) return {base->number, nullptr};
  return {0, target.columns[static_cast<size_t>(column->number) - 1]};
}

struct Inference {
  std::vector<int16_t> columns;  // ascending, each once
  std::vector<const BoundExpression*> expressions;
  const BoundExpression* where = nullptr;

  bool has(const BoundExpression* expression) const {
    return std::ranges::any_of(expressions, [&](const BoundExpression* each) {
      return equal_expressions(without_relabel(each), without_relabel(expression));
    });
  }
};

void sort_out(std::vector<int16_t>& numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

// `keys`: null if the index computes nothing.
bool fits(const Inference& inference, const IndexDescriptor& index, const IndexKeys* keys) {
  std::vector<int16_t> columns;
  for (const IndexColumn& column : index.columns) {
    if (column.number != 0) columns.push_back(column.number);
  }
  sort_out(columns);
  if (columns != inference.columns || !index.valid) return false;
  if (keys == nullptr) return inference.expressions.empty();
  bool same = std::ranges::all_of(keys->expressions, [&](const BoundExpression* expression) {
    return inference.has(expression);
  });
  same &= std::ranges::all_of(inference.expressions, [&](const BoundExpression* wanted) {
    return std::ranges::any_of(keys->expressions, [&](const BoundExpression* expression) {
      return equal_expressions(without_relabel(wanted), without_relabel(expression));
    });
  });
  if (!same || keys->predicate == nullptr) return same;
  return inference.where != nullptr && implies(*inference.where, *keys->predicate);
}

// The unique indexes over exactly these columns and expressions, in any order and number, that have
// all rows of which the WHERE is true.
Indexes inferred_indexes(Scope& scope, const ast::OnConflict& clause,
                         const ModificationTarget& target) {
  Inference inference;
  for (const ast::IndexElement& element : clause.inference) {
    Inferred inferred = infer(scope, element, target, clause.target_location);
    if (inferred.expression == nullptr) {
      inference.columns.push_back(inferred.number);
    } else {
      inference.expressions.push_back(inferred.expression);
    }
  }
  sort_out(inference.columns);
  inference.where =
      bind_condition(scope, clause.inference_where, ExpressionPlace::index_predicate, "WHERE");
  std::span<const IndexKeys> computed = scope.relations[0]->index_keys;
  Indexes matching = unique_indexes(*target.table);
  std::erase_if(matching, [&](const IndexDescriptor* index) {
    auto keys = std::ranges::find(computed, index, &IndexKeys::index);
    return !fits(inference, *index, keys != computed.end() ? &*keys : nullptr);
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
  conflict->generated = bind_generated(binding, *target.table, conflict->assignments);
  conflict->where = bind_condition(scope, clause.where, ExpressionPlace::where, "WHERE");
  return conflict;
}

}  // namespace pgsilo
