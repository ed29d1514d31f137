#include "executor/ddl/foreign_key.h"

#include "catalog/catalog_view.h"
#include "executor/constraint/reference_check.h"
#include "planner/bound/table_use.h"

namespace pgsilo {

namespace {

ReferentialAction action_of(ast::ForeignKeyAction action) {
  constexpr ReferentialAction actions[] = {
      ReferentialAction::no_action, ReferentialAction::restrict, ReferentialAction::cascade,
      ReferentialAction::set_null, ReferentialAction::set_default};
  return actions[static_cast<size_t>(action)];
}

std::vector<std::string> strings(const ast::NameList& names) {
  return {names.begin(), names.end()};
}

// 23503 for a row that refers to nothing.
class ReferenceVisitor final : public RowTransform {
 public:
  ReferenceVisitor(DdlRun& run, const TableDescriptor& table,
                   const ConstraintDescriptor& constraint)
      : check_(run.state().session, table, constraint) {}
  void apply(std::span<Datum> values) override {
    if (!check_.holds(values)) check_.raise(values);
  }

 private:
  ReferenceCheck check_;
};

// Looks at rows that others change meanwhile: whether all seem to refer to something.
class ReferenceGlance final : public RowTransform {
 public:
  ReferenceGlance(DdlRun& run, const TableDescriptor& table, const ConstraintDescriptor& constraint)
      : check_(run.state().session, table, constraint) {}
  void apply(std::span<Datum> values) override { all_hold_ &= check_.seems_to_hold(values); }
  bool all_hold() const { return all_hold_; }

 private:
  ReferenceCheck check_;
  bool all_hold_ = true;
};

// Descriptors stay while the visit lasts.
void check_rows(DdlRun& run, Oid table, Oid constraint) {
  std::shared_ptr<const CatalogSnapshot> owner = run.catalog().shared_snapshot();
  const TableDescriptor& descriptor = *owner->find_table(table);
  ReferenceVisitor visitor(run, descriptor, *descriptor.find_constraint(constraint));
  run.finish(run.definition().visit_rows(table, visitor));
}

const ConstraintDescriptor& find_constraint(DdlRun& run, Oid table, std::string_view name) {
  const TableDescriptor& descriptor = run.table(table);
  if (const ConstraintDescriptor* found = descriptor.find_constraint(name)) return *found;
  throw SqlError(sqlstate::undefined_object, concat("constraint \"", name, "\" of relation \"",
                                                    descriptor.name, "\" does not exist"));
}

[[noreturn]] void throw_wrong_constraint(DdlRun& run, Oid table, std::string_view name,
                                         std::string_view wanted) {
  throw SqlError(sqlstate::wrong_object_type,
                 concat("constraint \"", name, "\" of relation \"", run.table(table).name,
                        "\" is not a ", wanted, " constraint"));
}

}  // namespace

void add_foreign_key(DdlRun& run, Oid table, const ast::Constraint& syntax, std::string_view column,
                     bool is_new) {
  if (syntax.match == ast::ForeignKeyMatch::partial) {
    throw SqlError(sqlstate::feature_not_supported, "MATCH PARTIAL not yet implemented")
        .at(run.binding().position(syntax.location));
  }
  ForeignKeyDefinition made;
  made.name = syntax.name;
  made.columns = column.empty() ? strings(syntax.foreign_columns)
                                : std::vector<std::string>{std::string(column)};
  made.referenced_table = run.find_relation(*syntax.referenced)->oid;
  made.referenced_columns = strings(syntax.referenced_columns);
  if (syntax.match == ast::ForeignKeyMatch::full) made.match = ReferentialMatch::full;
  made.on_update = action_of(syntax.on_update);
  made.on_delete = action_of(syntax.on_delete);
  made.on_delete_columns = strings(syntax.on_delete_columns);
  made.deferrable = syntax.deferrable;
  made.initially_deferred = syntax.initially_deferred;
  // There is nothing to leave unchecked in a table that is made here.
  made.not_valid = syntax.not_valid && !is_new;
  Oid constraint = invalid_oid;
  run.finish(run.definition().add_foreign_key(table, made, &constraint));
  if (!made.not_valid && !is_new) check_rows(run, table, constraint);
}

void refuse_pending_references(DdlRun& run, Oid table, std::string_view name) {
  const ConstraintDescriptor* constraint = run.table(table).find_constraint(name);
  if (constraint != nullptr && constraint->foreign_key) {
    run.refuse_in_use(run.table(constraint->foreign_key->referenced_table), "ALTER TABLE");
  }
}

void check_foreign_keys_of(DdlRun& run, Oid table, int16_t column) {
  const TableDescriptor& descriptor = run.table(table);
  std::vector<IncomingReference> concerned;
  for (const ConstraintDescriptor& constraint : descriptor.constraints) {
    if (constraint.foreign_key && constraint.validated && constraint.has_column(column - 1))
      concerned.push_back({table, constraint.oid});
  }
  for (const IncomingReference& reference : descriptor.referenced_by) {
    const ConstraintDescriptor& constraint =
        *run.table(reference.table).find_constraint(reference.constraint);
    const std::vector<int16_t>& columns = constraint.foreign_key->referenced_columns;
    bool has_column = std::find(columns.begin(), columns.end(), column) != columns.end();
    if (constraint.validated && has_column) concerned.push_back(reference);
  }
  for (const IncomingReference& reference : concerned)
    check_rows(run, reference.table, reference.constraint);
}

void validate_constraint(DdlRun& run, Oid table, std::string_view name) {
  const ConstraintDescriptor& constraint = find_constraint(run, table, name);
  if (constraint.type != ConstraintType::foreign_key && constraint.type != ConstraintType::check)
    throw_wrong_constraint(run, table, name, "foreign key or check");
  if (constraint.validated) return run.state().use_table(run.table(table), TableUse::lock_rows);
  // New rows are checked as it is, so rows need not be held still. Only if one seems to refer to
  // nothing they have to be, to be sure of it.
  Oid oid = constraint.oid;
  std::shared_ptr<const CatalogSnapshot> owner = run.catalog().shared_snapshot();
  const TableDescriptor& descriptor = *owner->find_table(table);
  Oid referenced = constraint.foreign_key->referenced_table;
  run.state().use_table(descriptor, TableUse::lock_rows);
  run.state().use_table(*owner->find_table(referenced), TableUse::lock_rows);
  ReferenceGlance glance(run, descriptor, *descriptor.find_constraint(oid));
  run.finish(run.definition().visit_rows(table, glance, /*validates=*/true));
  if (!glance.all_hold()) check_rows(run, table, oid);
  run.finish(run.definition().set_validated(table, oid));
}

void alter_constraint(DdlRun& run, Oid table, const ast::Constraint& syntax) {
  const ConstraintDescriptor& constraint = find_constraint(run, table, syntax.name);
  if (constraint.type != ConstraintType::foreign_key)
    throw_wrong_constraint(run, table, syntax.name, "foreign key");
  run.finish(run.definition().set_deferrability(table, constraint.oid, syntax.deferrable,
                                                syntax.initially_deferred));
}

}  // namespace pgsilo
