// CREATE and DROP VIEW, and the views that read what is to go.
#include <algorithm>

#include "catalog/definition/definition_steps.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "storage/relation/relation.h"
#include "storage/relation/relation_directory.h"

namespace pgsilo {

namespace {

// As the grammar and the catalog call a view's only rule.
ObjectAddress rule_of(const TableDescriptor& view) {
  return {system_oid::pg_rewrite, view.view->rule};
}

std::string shown_type(Oid type, int32_t typmod) {
  ByteBuffer name;
  format_type(type, typmod, name);
  return std::string(name.view());
}

// Columns may be added behind those that there are.
void check_replacement(const TableDescriptor& old_view, const ViewDefinition& from) {
  if (from.columns.size() < old_view.columns.size())
    throw SqlError(sqlstate::invalid_table_definition, "cannot drop columns from view");
  for (size_t i = 0; i < old_view.columns.size(); ++i) {
    const ColumnDescriptor& before = old_view.columns[i];
    const ColumnDefinition& column = from.columns[i];
    if (before.name != column.name) {
      throw SqlError(sqlstate::invalid_table_definition,
                     concat("cannot change name of view column \"", before.name, "\" to \"",
                            column.name, "\""))
          .hint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.");
    }
    if (before.type == column.type && before.typmod == column.typmod) continue;
    throw SqlError(sqlstate::invalid_table_definition,
                   concat("cannot change data type of view column \"", before.name, "\" from ",
                          shown_type(before.type, before.typmod), " to ",
                          shown_type(column.type, column.typmod)));
  }
}

}  // namespace

void DefinitionSteps::create_view(const ViewDefinition& from) {
  RelationPersistence persistence = from.persistence;
  const SchemaDescriptor& schema = creation_schema(from.schema, &persistence);
  check_column_names(from.columns);
  if (schema.oid == system_oid::schema_pg_catalog) {
    throw SqlError(sqlstate::insufficient_privilege,
                   concat("permission denied to create \"", schema.name, ".", from.name, "\""))
        .detail("System catalog modifications are currently disallowed.");
  }
  const TableDescriptor* before = view_.snapshot().find_table(schema.oid, from.name);
  if (before != nullptr && from.or_replace) return replace_view(*before, from);
  check_name_free(schema.oid, from.name);
  hold_view_uses(from.query);
  rest_on_schema(schema.oid);
  auto made = std::make_shared<TableDescriptor>();
  TableDescriptor& view = *made;
  view.oid = new_oid();
  view.schema = schema.oid;
  view.schema_name = schema.name;
  view.name = from.name;
  view.kind = RelationKind::view;
  view.persistence = persistence;
  view.options = from.options;
  for (const ColumnDefinition& column : from.columns) add_column_to(view, column);
  move_array_type(schema.oid, from.name, /*for_relation=*/true);
  view.row_type = new_oid();
  view.array_type = new_oid();
  // It has no rows: the relation is for those who lock it.
  view.relation = &new_relation(view.persistence);
  view.relation_id = view.relation->id();
  view.view = std::make_shared<ViewDescriptor>(ViewDescriptor{new_oid(), from.query.text});
  complete_descriptor(view, {}, {});
  insert_table_rows(view);
  writer_.insert(rows_.rule(view));
  view_.put_table(made);
  insert_view_uses(*made, from.query);
}

void DefinitionSteps::replace_view(const TableDescriptor& old_view, const ViewDefinition& from) {
  if (old_view.kind != RelationKind::view) {
    throw SqlError(sqlstate::wrong_object_type, concat("\"", old_view.name, "\" is not a view"));
  }
  Oid oid = old_view.oid;
  check_replacement(lock_table(oid), from);
  hold_view_uses(from.query);
  remove_view_uses(table_of(oid));
  Draft draft = draft_of(table_of(oid));
  TableDescriptor& view = *draft.table;
  for (size_t i = view.columns.size(); i < from.columns.size(); ++i) {
    add_column_to(view, from.columns[i]);
    writer_.insert(rows_.attribute(view, view.columns.back()));
  }
  view.options = from.options;
  view.view = std::make_shared<ViewDescriptor>(ViewDescriptor{view.view->rule, from.query.text});
  writer_.update(rows_.rule(view));
  insert_view_uses(finish(std::move(draft)), from.query);
}

// Who drops or changes one of them looks for the rows that insert_view_uses() inserts: he and who
// makes them notice each other by the row of what is used.
void DefinitionSteps::hold_view_uses(const StoredQuery& query) {
  auto hold = [&](system_oid::Table catalog, Oid used) {
    if (!writer_.hold(catalog_.system_tables().table(catalog), {Datum::of_int(used)}))
      throw EngineOutcome{TransactionStatus::conflict_record};
  };
  Oid held = invalid_oid;
  for (const ColumnUse& use : query.columns) {
    if (use.relation < Catalog::first_user_oid || use.relation == held) continue;
    held = use.relation;
    lock_table(held, {LockMode::access_share});
    hold(system_oid::pg_class, held);
  }
  for (Oid type : query.types) hold_type(type);
  for (Oid constraint : query.constraints) {
    if (constraint >= Catalog::first_user_oid) hold(system_oid::pg_constraint, constraint);
  }
}

void DefinitionSteps::insert_view_uses(const TableDescriptor& view, const StoredQuery& query) {
  ObjectAddress rule = rule_of(view);
  writer_.insert(rows_.dependency(rule, {system_oid::pg_class, view.oid}, 0, 'i'));
  for (const ColumnUse& use : query.columns) {
    if (use.relation < Catalog::first_user_oid || use.relation == view.oid) continue;
    writer_.insert(rows_.dependency(rule, {system_oid::pg_class, use.relation}, use.column, 'n'));
  }
  for (Oid type : query.types)
    writer_.insert(rows_.dependency(rule, {system_oid::pg_type, type}, 0, 'n'));
  for (Oid constraint : query.constraints) {
    if (constraint < Catalog::first_user_oid) continue;
    writer_.insert(rows_.dependency(rule, {system_oid::pg_constraint, constraint}, 0, 'n'));
  }
}

void DefinitionSteps::remove_view_uses(const TableDescriptor& view) {
  remove_dependencies(rule_of(view));
}

void DefinitionSteps::remove_view(const TableDescriptor& view) {
  remove_view_uses(view);
  remove_row(system_oid::pg_rewrite, {view.view->rule});
  remove_table(view);
}

void DefinitionSteps::drop_views(std::span<const DataDefinition::ObjectName> names, bool if_exists,
                                 bool cascade) {
  std::vector<Oid> found;
  for (const DataDefinition::ObjectName& name : names) {
    if (skip_missing_schema(name.schema, if_exists)) continue;
    if (const TableDescriptor* view = find_to_drop(RelationKind::view, name, if_exists)) {
      if (view->is_system()) {
        throw SqlError(sqlstate::dependent_objects_still_exist,
                       concat("cannot drop view ", view->name,
                              " because it is required by the database system"));
      }
      if (std::ranges::find(found, view->oid) == found.end()) found.push_back(view->oid);
    }
  }
  for (Oid oid : found) lock_table(oid);
  drop_dependents_of(found, cascade);
  remove_tables(found);
}

void DefinitionSteps::add_views_using(const ViewSource& source, Oid root,
                                      std::span<const Oid> going,
                                      std::vector<ViewUse>* uses) const {
  std::vector<Oid> views;
  for (const Dependency& each : dependencies_on(source.object, source.column)) {
    if (each.object.catalog != system_oid::pg_rewrite || each.type != 'n') continue;
    for (const Dependency& of_rule : dependencies_of(each.object)) {
      if (of_rule.type == 'i') views.push_back(of_rule.referenced.oid);
    }
  }
  std::ranges::sort(views);
  for (Oid oid : views) {
    bool is_known = std::ranges::find(going, oid) != going.end() ||
                    std::ranges::find(*uses, oid, &ViewUse::view) != uses->end();
    if (is_known) continue;
    const TableDescriptor* view = view_.find_table(oid);
    // Somebody made it since this transaction looked at the catalog.
    if (view == nullptr) throw EngineOutcome{TransactionStatus::conflict_record};
    uses->push_back({oid, source.shown, root});
    add_views_using({{system_oid::pg_class, oid}, 0, shown_relation(*view)}, root, going, uses);
  }
}

std::vector<DefinitionSteps::ViewUse> DefinitionSteps::remaining_view_uses(
    const Dropped& dropped, std::span<const TypeUse> type_uses) const {
  std::vector<ViewUse> uses;
  auto add = [&](ObjectAddress object, int16_t column, const std::string& shown) {
    add_views_using({object, column, shown}, object.oid, dropped.tables, &uses);
  };
  auto shown_constraint = [&](const TableDescriptor& table, std::string_view constraint) {
    return concat("constraint ", constraint, " on table ", shown_name(table));
  };
  auto add_column = [&](const TableDescriptor& table, const ColumnDescriptor& column) {
    add({system_oid::pg_class, table.oid}, column.number,
        concat("column ", column.name, " of table ", shown_name(table)));
    for (const ConstraintDescriptor& constraint : table.constraints) {
      if (constraint.has_column(column.number - 1))
        add({system_oid::pg_constraint, constraint.oid}, 0,
            shown_constraint(table, constraint.name));
    }
  };
  for (Oid table : dropped.tables)
    add({system_oid::pg_class, table}, 0, shown_relation(*view_.find_table(table)));
  if (dropped.table != invalid_oid) {
    const TableDescriptor& table = *view_.find_table(dropped.table);
    add_column(table, table.columns[static_cast<size_t>(dropped.column) - 1]);
  }
  for (Oid sequence : dropped.sequences)
    add({system_oid::pg_class, sequence}, 0, shown_relation(*view_.find_table(sequence)));
  for (const auto& type : dropped.types)
    add(type->address, 0, concat("type ", shown_type(type->address.oid)));
  for (const TypeUse& use : type_uses) {
    const TableDescriptor& table = *view_.find_table(use.table);
    add_column(table, *table.find_column(use.column));
  }
  if (dropped.constraint != invalid_oid)
    add({system_oid::pg_constraint, dropped.constraint}, 0, dropped.what);
  return uses;
}

void DefinitionSteps::refuse_if_viewed(const TableDescriptor& table,
                                       const ColumnDescriptor& column) const {
  std::vector<ViewUse> uses;
  add_views_using({{system_oid::pg_class, table.oid}, column.number, {}}, table.oid, {}, &uses);
  if (uses.empty()) return;
  throw SqlError(sqlstate::feature_not_supported,
                 "cannot alter type of a column used by a view or rule")
      .detail(concat("rule _RETURN on view ", shown_name(*view_.find_table(uses.front().view)),
                     " depends on column \"", column.name, "\""));
}

}  // namespace pgsilo
