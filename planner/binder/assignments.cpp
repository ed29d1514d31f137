// SET column = value of UPDATE and ON CONFLICT DO UPDATE.
#include <algorithm>
#include <map>

#include "catalog/descriptors.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/expression_families.h"
#include "planner/binder/modification_binder.h"
#include "planner/binder/modification_target.h"
#include "planner/binder/query_binder.h"
#include "planner/binder/subscripts.h"
#include "planner/bound/make_expression.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

// The values of SET (a, b) = source; one source serves several columns.
class SharedSources {
 public:
  explicit SharedSources(Scope& scope) : scope_(scope) {}

  const BoundExpression* value(const ast::MultiAssignRef& reference) {
    std::vector<const BoundExpression*>& values = values_[reference.source];
    if (values.empty()) values = bind(reference);
    return values[reference.column - 1];
  }

 private:
  std::vector<const BoundExpression*> bind(const ast::MultiAssignRef& reference) {
    size_t wanted = static_cast<size_t>(reference.columns);
    if (auto* sublink = ast::try_as<ast::SubLink>(reference.source);
        sublink != nullptr && sublink->sublink_kind == ast::SubLinkKind::expression) {
      return bind_row_sublink(scope_, *sublink->select, wanted, sublink->location,
                              "number of columns does not match number of values");
    }
    auto* row = ast::try_as<ast::RowExpr>(reference.source);
    if (row == nullptr) {
      throw SqlError(
          sqlstate::feature_not_supported,
          "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression")
          .at(scope_.position(reference.source->location));
    }
    std::vector<const BoundExpression*> values;
    for (const ast::Node* item : row->arguments) {
      auto* reference = ast::try_as<ast::ColumnRef>(item);
      if (reference != nullptr && reference->star) {
        add_columns(item, values);
        continue;
      }
      bool is_default = item->kind == ast::NodeKind::set_to_default;
      values.push_back(is_default ? nullptr : bind_expression(scope_, item));
    }
    check_count(values.size(), wanted, row->location);
    return values;
  }

  // ROW(t.*)
  void add_columns(const ast::Node* star, std::vector<const BoundExpression*>& values) {
    ast::Target target;
    target.expression = star;
    for (const BoundTarget& column :
         bind_targets(scope_, {&target, 1}, ExpressionPlace::update_source))
      values.push_back(column.expression);
  }

  void check_count(size_t actual, size_t wanted, int32_t location) const {
    if (actual == wanted) return;
    throw SqlError(sqlstate::syntax_error, "number of columns does not match number of values")
        .at(scope_.position(location));
  }

  Scope& scope_;
  std::map<const ast::Node*, std::vector<const BoundExpression*>> values_;
};

// Null: DEFAULT.
const BoundExpression* bind_value(Scope& scope, const ast::Node* node, SharedSources& sources) {
  if (node->kind == ast::NodeKind::set_to_default) return nullptr;
  if (auto* shared = ast::try_as<ast::MultiAssignRef>(node)) return sources.value(*shared);
  return bind_expression(scope, node);
}

[[noreturn]] void throw_assigned_twice(const ColumnDescriptor& column) {
  throw SqlError(sqlstate::syntax_error,
                 concat("multiple assignments to same column \"", column.name, "\""));
}

// Nothing is assigned to a generated column: it follows the columns that it is made of. `targets`:
// it is the last one.
void check_generated(const ColumnDescriptor& column, bool is_default,
                     std::span<const SubscriptedTarget> targets) {
  if (!is_default) {
    throw SqlError(sqlstate::generated_always,
                   concat("column \"", column.name, "\" can only be updated to DEFAULT"))
        .detail(concat("Column \"", column.name, "\" is a generated column."));
  }
  for (const SubscriptedTarget& earlier : targets.first(targets.size() - 1)) {
    if (earlier.column == &column) throw_assigned_twice(column);
  }
}

void check_identity(const ColumnDescriptor& column, const BoundExpression* value) {
  if (column.identity != IdentityKind::always || value == nullptr) return;
  throw SqlError(sqlstate::generated_always,
                 concat("column \"", column.name, "\" can only be updated to DEFAULT"))
      .detail(concat("Column \"", column.name,
                     "\" is an identity column defined as GENERATED ALWAYS."));
}

// Null: the last target's column is not assigned to yet. Only its parts may be more than once.
BoundAssignment* find_assignment(std::vector<BoundAssignment>& assignments,
                                 std::span<const SubscriptedTarget> targets,
                                 const ColumnDescriptor& column) {
  auto found = std::find_if(
      assignments.begin(), assignments.end(),
      [&](const BoundAssignment& assignment) { return assignment.column == column.number - 1; });
  if (found == assignments.end()) return nullptr;
  for (const SubscriptedTarget& target : targets) {
    if (target.column == &column && target.is_whole()) throw_assigned_twice(column);
  }
  return &*found;
}

// `before`: what the column is assigned so far, or null.
const BoundExpression* assigned_value(Scope& scope, const SubscriptedTarget& target,
                                      const BoundExpression* value, const BoundAssignment* before) {
  const ColumnDescriptor& column = *target.column;
  if (value == nullptr && target.is_whole()) return bind_column_default(scope.binding, column);
  const BoundExpression* coerced = coerce_to_subscripted(scope.binding, value, target);
  if (target.is_whole()) return coerced;
  const BoundExpression* previous =
      before != nullptr
          ? before->value
          : make_column(scope.arena(), 0, column.number - 1, column.type, column.typmod);
  return assign_to_part(scope.binding, target, previous, coerced);
}

}  // namespace

std::span<const BoundAssignment> bind_assignments(Scope& scope, ast::List<ast::Assignment> given,
                                                  const ModificationTarget& target, PlanKind kind) {
  PlaceGuard place(scope, ExpressionPlace::update_source);
  SharedSources sources(scope);
  std::vector<const BoundExpression*> values;
  for (const ast::Assignment& assignment : given) {
    values.push_back(bind_value(scope, assignment.expression, sources));
  }
  std::vector<BoundAssignment> assignments;
  std::vector<SubscriptedTarget> targets;
  for (size_t i = 0; i < values.size(); ++i) {
    const ColumnDescriptor& column = find_target_column(scope.binding, target, given[i], kind);
    targets.push_back(bind_target_subscripts(scope, given[i], column));
    check_identity(column, values[i]);
    if (column.generated) {
      if (values[i] != nullptr) assigned_value(scope, targets.back(), values[i], nullptr);
      check_generated(column, values[i] == nullptr && target.view == nullptr, targets);
      continue;
    }
    BoundAssignment* before = find_assignment(assignments, targets, column);
    const BoundExpression* value =
        values[i] == nullptr && target.view != nullptr && targets.back().is_whole()
            ? bind_type_default(scope.binding, column)  // a view's column has none of its own
            : assigned_value(scope, targets.back(), values[i], before);
    if (before != nullptr) {
      before->value = value;
    } else {
      assignments.push_back({column.number - 1, value});
    }
  }
  return scope.arena().copy_span(assignments);
}

}  // namespace pgsilo
