#include "planner/binder/column_reference.h"

#include "base/long_work.h"
#include "catalog/descriptors.h"
#include "planner/binder/misspelling.h"
#include "planner/bound/make_expression.h"
#include "planner/unsupported_features.h"

namespace pgsilo {

namespace {

const ScopeColumn* find_column_of(Scope& scope, const ScopeItem& item, std::string_view name,
                                  int32_t location) {
  constexpr size_t column_work = 32;
  did_work(item.columns.size() * column_work);
  const ScopeColumn* found = nullptr;
  for (const ScopeColumn& column : item.columns) {
    if (column.name != name || column.expression == nullptr) continue;
    if (found != nullptr) {
      throw SqlError(sqlstate::ambiguous_column,
                     concat("column reference \"", name, "\" is ambiguous"))
          .at(scope.position(location));
    }
    found = &column;
  }
  return found;
}

void check_lateral_ok(Scope& scope, const ScopeItem& item, int32_t location) {
  if (!item.lateral_only || item.lateral_ok) return;
  throw SqlError(sqlstate::invalid_column_reference,
                 concat("invalid reference to FROM-clause entry for table \"", item.name, "\""))
      .detail("The combining JOIN type must be INNER or LEFT for a LATERAL reference.")
      .at(scope.position(location));
}

// A generated column is made of others.
void check_generated(Scope& scope, const ScopeColumn& column, int32_t location) {
  if (!column.generated || scope.place != ExpressionPlace::column_generation) return;
  throw SqlError(
      sqlstate::invalid_object_definition,
      concat("cannot use generated column \"", column.name, "\" in column generation expression"))
      .detail("A generated column cannot reference another generated column.")
      .at(scope.position(location));
}

[[noreturn]] void throw_whole_row(Scope& scope, int32_t location) {
  if (scope.place != ExpressionPlace::column_generation)
    throw_unsupported(UnsupportedFeature::whole_row_reference, scope.position(location));
  throw SqlError(sqlstate::invalid_object_definition,
                 "cannot use whole-row variable in column generation expression")
      .detail("This would cause the generated column to depend on its own value.")
      .at(scope.position(location));
}

// The column as seen from `levels_up` queries further in, at this place of the text.
const BoundExpression* refer_to(Scope& scope, const BoundExpression* expression, int32_t levels_up,
                                int32_t location) {
  if (auto* column = try_as<ColumnExpression>(expression)) {
    auto* reference = scope.arena().make<ColumnExpression>(*column);
    reference->levels_up += levels_up;
    reference->location = location;
    return reference;
  }
  return raise_levels(scope.arena(), expression, levels_up);
}

void check_place_allows_columns(Scope& scope, int32_t location) {
  if (scope.place == ExpressionPlace::column_default) {
    throw SqlError(sqlstate::feature_not_supported,
                   "cannot use column reference in DEFAULT expression")
        .at(scope.position(location));
  }
}

[[noreturn]] void throw_undefined_column(Scope& scope, std::string_view qualifier,
                                         std::string_view name, int32_t location) {
  std::string message = qualifier.empty()
                            ? concat("column \"", name, "\" does not exist")
                            : concat("column ", qualifier, ".", name, " does not exist");
  throw SqlError(sqlstate::undefined_column, std::move(message))
      .hint(misspelling_hint(scope, qualifier, name))
      .at(scope.position(location));
}

bool item_matches(const ScopeItem& item, std::string_view schema, std::string_view name) {
  if (!item.name_visible || item.name.empty() || item.name != name) return false;
  if (schema.empty()) return true;
  // A schema only fits a table that is known by its own name.
  return item.table != nullptr && item.table->name == name && item.table->schema_name == schema;
}

ScopeItem* find_item_in(Scope& scope, std::string_view schema, std::string_view name,
                        int32_t location) {
  ScopeItem* found = nullptr;
  for (ScopeItem& item : scope.items) {
    if (!item_matches(item, schema, name)) continue;
    if (item.lateral_only && !scope.lateral_active) continue;
    if (found != nullptr) {
      throw SqlError(sqlstate::ambiguous_alias,
                     concat("table reference \"", name, "\" is ambiguous"))
          .at(scope.position(location));
    }
    check_lateral_ok(scope, item, location);
    found = &item;
  }
  return found;
}

const BoundExpression* bind_qualified(Scope& scope, const ast::ColumnRef& reference) {
  size_t count = reference.fields.size();
  if (count > 4) {
    std::string dotted;
    for (std::string_view field : reference.fields)
      dotted += (dotted.empty() ? "" : ".") + std::string(field);
    throw SqlError(sqlstate::syntax_error,
                   concat("improper qualified name (too many dotted names): ", dotted))
        .at(scope.position(reference.location));
  }
  if (count == 4) {
    throw SqlError(
        sqlstate::feature_not_supported,
        concat("cross-database references are not implemented: ", reference.fields[0], ".",
               reference.fields[1], ".", reference.fields[2], ".", reference.fields[3]))
        .at(scope.position(reference.location));
  }
  std::string_view schema = count == 3 ? reference.fields[0] : std::string_view();
  std::string_view qualifier = reference.fields[count - 2];
  std::string_view name = reference.fields[count - 1];
  FoundItem found = find_scope_item(scope, schema, qualifier, reference.location);
  if (found.item == nullptr) throw_missing_from_entry(scope, qualifier, reference.location);
  const ScopeColumn* column = find_column_of(scope, *found.item, name, reference.location);
  if (column == nullptr) throw_undefined_column(scope, qualifier, name, reference.location);
  check_generated(scope, *column, reference.location);
  return refer_to(scope, column->expression, found.levels_up, reference.location);
}

}  // namespace

FoundItem find_scope_item(Scope& scope, std::string_view schema, std::string_view name,
                          int32_t location) {
  int32_t levels_up = 0;
  for (Scope* at = &scope; at != nullptr; at = at->parent, ++levels_up) {
    if (ScopeItem* item = find_item_in(*at, schema, name, location)) return {item, levels_up};
  }
  return {};
}

void throw_missing_from_entry(Scope& scope, std::string_view name, int32_t location) {
  const ScopeItem* hidden = nullptr;
  const ScopeItem* aliased = nullptr;
  for (Scope* at = &scope; at != nullptr; at = at->parent) {
    for (const ScopeItem& item : at->items) {
      if (item.relation < 0) continue;
      if (item.name == name) hidden = &item;
      if (item.table != nullptr && item.table->name == name && item.name != name) aliased = &item;
    }
  }
  if (hidden == nullptr && aliased == nullptr) {
    throw SqlError(sqlstate::undefined_table,
                   concat("missing FROM-clause entry for table \"", name, "\""))
        .at(scope.position(location));
  }
  throw SqlError(sqlstate::undefined_table,
                 concat("invalid reference to FROM-clause entry for table \"", name, "\""))
      .hint(hidden != nullptr
                ? concat("There is an entry for table \"", name,
                         "\", but it cannot be referenced from this part of the query.")
                : concat("Perhaps you meant to reference the table alias \"", aliased->name, "\"."))
      .at(scope.position(location));
}

const BoundExpression* find_unqualified_column(Scope& scope, std::string_view name,
                                               int32_t location) {
  int32_t levels_up = 0;
  for (Scope* at = &scope; at != nullptr; at = at->parent, ++levels_up) {
    const ScopeColumn* found = nullptr;
    for (const ScopeItem& item : at->items) {
      if (!item.columns_visible || (item.lateral_only && !at->lateral_active)) continue;
      const ScopeColumn* column = find_column_of(scope, item, name, location);
      if (column == nullptr) continue;
      if (found != nullptr) {
        throw SqlError(sqlstate::ambiguous_column,
                       concat("column reference \"", name, "\" is ambiguous"))
            .at(scope.position(location));
      }
      check_lateral_ok(scope, item, location);
      found = column;
    }
    if (found == nullptr) continue;
    check_generated(scope, *found, location);
    return refer_to(scope, found->expression, levels_up, location);
  }
  return nullptr;
}

const BoundExpression* bind_column_reference(Scope& scope, const ast::ColumnRef& reference) {
  check_place_allows_columns(scope, reference.location);
  if (reference.star) throw_whole_row(scope, reference.location);
  if (reference.fields.size() > 1) return bind_qualified(scope, reference);
  std::string_view name = reference.fields[0];
  if (const BoundExpression* column = find_unqualified_column(scope, name, reference.location))
    return column;
  if (find_scope_item(scope, {}, name, reference.location).item != nullptr)
    throw_whole_row(scope, reference.location);
  throw_undefined_column(scope, {}, name, reference.location);
}

}  // namespace pgsilo
