// FOREIGN KEY: made, changed, taken away. Both tables tell of it: the one that refers has the
// constraint, the other one names it in `referenced_by`, because its changes must be checked.
#include <algorithm>

#include "catalog/definition/definition_steps.h"
#include "catalog/definition/object_names.h"
#include "catalog/reference_types.h"
#include "sql/internal_error.h"
#include "sql/limits.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

std::vector<int16_t> numbers_of(const TableDescriptor& table,
                                const std::vector<std::string>& names) {
  std::vector<int16_t> numbers;
  for (const std::string& name : names) {
    const ColumnDescriptor* column = table.find_column(name);
    if (column == nullptr) {
      throw SqlError(
          sqlstate::undefined_column,
          concat("column \"", name, "\" referenced in foreign key constraint does not exist"));
    }
    numbers.push_back(column->number);
  }
  if (numbers.size() > static_cast<size_t>(limits::max_index_columns)) {
    throw SqlError(
        sqlstate::too_many_columns,
        concat("cannot have more than ", limits::max_index_columns, " keys in a foreign key"));
  }
  return numbers;
}

const ColumnDescriptor& column_at(const TableDescriptor& table, int16_t number) {
  return table.columns[static_cast<size_t>(number) - 1];
}

// The first unique index that was made over just these columns, in whatever order.
const IndexDescriptor& unique_index_over(const TableDescriptor& table,
                                         const std::vector<int16_t>& columns) {
  std::vector<int16_t> wanted = columns;
  std::sort(wanted.begin(), wanted.end());
  if (std::adjacent_find(wanted.begin(), wanted.end()) != wanted.end()) {
    throw SqlError(sqlstate::invalid_foreign_key,
                   "foreign key referenced-columns list must not contain duplicates");
  }
  const IndexDescriptor* first = nullptr;
  for (const auto& index : table.indexes) {
    std::vector<int16_t> has;
    for (const IndexColumn& column : index->columns) has.push_back(column.number);
    std::sort(has.begin(), has.end());
    bool fits = index->is_unique_for_all() && has == wanted;
    if (fits && (first == nullptr || index->oid < first->oid)) first = index.get();
  }
  if (first != nullptr) return *first;
  throw SqlError(sqlstate::invalid_foreign_key,
                 concat("there is no unique constraint matching given keys for referenced table \"",
                        table.name, "\""));
}

const IndexDescriptor& primary_key_of(const TableDescriptor& table) {
  if (const IndexDescriptor* primary = table.primary_index()) return *primary;
  throw SqlError(sqlstate::undefined_object,
                 concat("there is no primary key for referenced table \"", table.name, "\""));
}

// Rows that go with a session or a crash must not leave others behind that refer to them.
void check_persistence(RelationPersistence table, RelationPersistence referenced) {
  using enum RelationPersistence;
  auto refuse = [](std::string_view message) {
    throw SqlError(sqlstate::invalid_table_definition, std::string(message));
  };
  if (table == permanent && referenced != permanent)
    refuse("constraints on permanent tables may reference only permanent tables");
  if (table == unlogged && referenced == temporary)
    refuse("constraints on unlogged tables may reference only permanent or unlogged tables");
  if (table == temporary && referenced != temporary)
    refuse("constraints on temporary tables may reference only temporary tables");
}

void check_referenced_table(const TableDescriptor& table, const TableDescriptor& referenced) {
  if (referenced.kind != RelationKind::table) {
    throw SqlError(sqlstate::wrong_object_type,
                   concat("referenced relation \"", referenced.name, "\" is not a table"));
  }
  if (referenced.is_system()) {
    throw SqlError(sqlstate::insufficient_privilege,
                   concat("permission denied: \"", referenced.name, "\" is a system catalog"));
  }
  check_persistence(table.persistence, referenced.persistence);
}

void check_types(const TableDescriptor& table, const TableDescriptor& referenced,
                 const ConstraintDescriptor& constraint) {
  const ForeignKeyDescriptor& key = *constraint.foreign_key;
  for (size_t i = 0; i < constraint.columns.size(); ++i) {
    const ColumnDescriptor& from = column_at(table, constraint.columns[i]);
    const ColumnDescriptor& to = column_at(referenced, key.referenced_columns[i]);
    std::string types = concat(format_type(from.type), " and ", format_type(to.type));
    switch (reference_types(from.type, to.type).conversion) {
      case ReferenceConversion::unsupported:
        throw_unsupported(concat("a foreign key between columns of types ", types));
      case ReferenceConversion::incompatible:
        throw SqlError(
            sqlstate::datatype_mismatch,
            concat("foreign key constraint \"", constraint.name, "\" cannot be implemented"))
            .detail(concat("Key columns \"", from.name, "\" and \"", to.name,
                           "\" are of incompatible types: ", types, "."));
      default:
        break;
    }
  }
}

// Such columns are not written.
void check_generated(const TableDescriptor& table, const ConstraintDescriptor& constraint) {
  bool generated = std::ranges::any_of(
      constraint.columns, [&](int16_t number) { return column_at(table, number).generated; });
  if (!generated) return;
  auto fail = [](std::string_view event) {
    throw SqlError(sqlstate::syntax_error,
                   concat("invalid ON ", event,
                          " action for foreign key constraint containing generated column"));
  };
  using Action = ReferentialAction;
  const ForeignKeyDescriptor& key = *constraint.foreign_key;
  auto sets = [](Action action) {
    return action == Action::set_null || action == Action::set_default;
  };
  if (sets(key.on_update) || key.on_update == Action::cascade) fail("UPDATE");
  if (sets(key.on_delete)) fail("DELETE");
}

}  // namespace

ConstraintDescriptor DefinitionSteps::make_foreign_key(const TableDescriptor& table,
                                                       const TableDescriptor& referenced,
                                                       const ForeignKeyDefinition& from) {
  ConstraintDescriptor made;
  made.type = ConstraintType::foreign_key;
  made.deferrable = from.deferrable;
  made.initially_deferred = from.initially_deferred;
  made.validated = !from.not_valid;
  TakenNames taken(table);
  if (!from.name.empty() && taken.contains(from.name)) {
    throw SqlError(
        sqlstate::duplicate_object,
        concat("constraint \"", from.name, "\" for relation \"", table.name, "\" already exists"));
  }
  std::vector<std::string_view> names(from.columns.begin(), from.columns.end());
  made.name = from.name.empty() ? taken.choose(table.name, join_column_names(names), "fkey",
                                               [](const std::string&) { return false; })
                                : from.name;
  made.columns = numbers_of(table, from.columns);
  ForeignKeyDescriptor& key = made.foreign_key.emplace();
  key.referenced_table = referenced.oid;
  key.match = from.match;
  key.on_update = from.on_update;
  key.on_delete = from.on_delete;
  key.on_delete_columns = numbers_of(table, from.on_delete_columns);
  for (size_t i = 0; i < key.on_delete_columns.size(); ++i) {
    if (std::find(made.columns.begin(), made.columns.end(), key.on_delete_columns[i]) !=
        made.columns.end()) {
      continue;
    }
    throw SqlError(sqlstate::invalid_column_reference,
                   concat("column \"", from.on_delete_columns[i],
                          "\" referenced in ON DELETE SET action must be part of foreign key"));
  }
  if (from.referenced_columns.empty()) {
    const IndexDescriptor& primary = primary_key_of(referenced);
    made.index = primary.oid;
    for (const IndexColumn& column : primary.columns)
      key.referenced_columns.push_back(column.number);
  } else {
    key.referenced_columns = numbers_of(referenced, from.referenced_columns);
    made.index = unique_index_over(referenced, key.referenced_columns).oid;
  }
  check_generated(table, made);
  if (key.referenced_columns.size() != made.columns.size()) {
    throw SqlError(sqlstate::invalid_foreign_key,
                   "number of referencing and referenced columns for foreign key disagree");
  }
  check_types(table, referenced, made);
  return made;
}

Oid DefinitionSteps::add_foreign_key(Oid oid, const ForeignKeyDefinition& from) {
  lock_table(oid);
  const TableDescriptor& table = table_of(oid);
  check_referenced_table(table, table_of(from.referenced_table));
  ConstraintDescriptor constraint =
      make_foreign_key(table, lock_table(from.referenced_table), from);
  constraint.oid = new_oid();
  Oid made = constraint.oid;
  Draft draft = draft_of(table_of(oid));
  writer_.insert(rows_.constraint(*draft.table, constraint));
  draft.table->constraints.push_back(std::move(constraint));
  bool is_own = from.referenced_table == oid;
  if (is_own) draft.table->referenced_by.push_back({oid, made});
  finish(std::move(draft));
  if (!is_own) add_reference(from.referenced_table, {oid, made});
  return made;
}

void DefinitionSteps::add_reference(Oid referenced, const IncomingReference& reference) {
  Draft draft = draft_of(lock_table(referenced));
  draft.table->referenced_by.push_back(reference);
  finish(std::move(draft));
}

void DefinitionSteps::remove_reference(Oid referenced, const IncomingReference& reference) {
  // An earlier step may have written the table's row.
  require_ok(transaction_.continue_statement());
  Draft draft = draft_of(lock_table(referenced));
  std::erase(draft.table->referenced_by, reference);
  finish(std::move(draft));
}

void DefinitionSteps::check_foreign_keys_of(const TableDescriptor& table, int16_t column) {
  for (const ConstraintDescriptor& constraint : table.constraints) {
    if (constraint.foreign_key && constraint.has_column(column - 1))
      check_types(table, table_of(constraint.foreign_key->referenced_table), constraint);
  }
  for (const IncomingReference& reference : references_to(table, column, invalid_oid))
    check_types(table_of(reference.table), table, constraint_of(reference));
}

// What is compared with the column stays as it is until the transaction ends.
void DefinitionSteps::lock_references_of(const TableDescriptor& table, int16_t column) {
  std::vector<Oid> others;
  for (const ConstraintDescriptor& constraint : table.constraints) {
    if (constraint.foreign_key && constraint.has_column(column - 1))
      others.push_back(constraint.foreign_key->referenced_table);
  }
  for (const IncomingReference& reference : references_to(table, column, invalid_oid))
    others.push_back(reference.table);
  for (Oid other : others) {
    if (other != table.oid) lock_table(other, {LockMode::share_row_exclusive});
  }
}

void DefinitionSteps::remove_references_by(Oid oid, int16_t column) {
  std::vector<ConstraintDescriptor> constraints = table_of(oid).constraints;
  for (const ConstraintDescriptor& constraint : constraints) {
    if (!constraint.foreign_key || constraint.foreign_key->referenced_table == oid) continue;
    const std::vector<int16_t>& columns = constraint.columns;
    if (column == 0 || std::find(columns.begin(), columns.end(), column) != columns.end())
      remove_reference(constraint.foreign_key->referenced_table, {oid, constraint.oid});
  }
}

void DefinitionSteps::remove_foreign_key(Draft& draft, Oid constraint) {
  std::erase_if(draft.table->constraints, [&](const ConstraintDescriptor& each) {
    if (each.oid != constraint) return false;
    remove_constraint_rows(each);
    return true;
  });
  std::erase(draft.table->referenced_by, IncomingReference{draft.table->oid, constraint});
}

const ConstraintDescriptor& DefinitionSteps::constraint_of(const IncomingReference& reference) {
  const ConstraintDescriptor* found =
      table_of(reference.table).find_constraint(reference.constraint);
  PGSILO_REQUIRE(found != nullptr);
  return *found;
}

std::vector<IncomingReference> DefinitionSteps::references_to(const TableDescriptor& table,
                                                              int16_t column, Oid index) const {
  std::vector<IncomingReference> found;
  for (const IncomingReference& reference : table.referenced_by) {
    const TableDescriptor* referring = view_.find_table(reference.table);
    const ConstraintDescriptor& constraint = *referring->find_constraint(reference.constraint);
    const std::vector<int16_t>& columns = constraint.foreign_key->referenced_columns;
    bool names_column =
        column == 0 || std::find(columns.begin(), columns.end(), column) != columns.end();
    bool rests_on_index = index == invalid_oid || constraint.index == index;
    if (names_column && rests_on_index) found.push_back(reference);
  }
  return found;
}

template <typename Change>
void DefinitionSteps::change_constraint(Oid oid, Oid constraint, Change change) {
  Draft draft = draft_of(lock_table(oid));
  for (ConstraintDescriptor& each : draft.table->constraints) {
    if (each.oid != constraint) continue;
    change(each);
    writer_.update(rows_.constraint(*draft.table, each));
  }
  finish(std::move(draft));
}

void DefinitionSteps::set_validated(Oid table, Oid constraint) {
  change_constraint(table, constraint, [](ConstraintDescriptor& each) { each.validated = true; });
}

void DefinitionSteps::set_deferrability(Oid table, Oid constraint, bool deferrable,
                                        bool initially_deferred) {
  change_constraint(table, constraint, [&](ConstraintDescriptor& each) {
    each.deferrable = deferrable;
    each.initially_deferred = initially_deferred;
  });
}

std::vector<Oid> DefinitionSteps::with_referring_tables(std::span<const Oid> tables, bool cascade) {
  std::vector<Oid> all(tables.begin(), tables.end());
  for (size_t i = 0; i < all.size(); ++i) {
    const TableDescriptor& table = table_of(all[i]);
    for (const IncomingReference& reference : table.referenced_by) {
      if (std::find(all.begin(), all.end(), reference.table) != all.end()) continue;
      const std::string& name = table_of(reference.table).name;
      if (!cascade) {
        throw SqlError(sqlstate::feature_not_supported,
                       "cannot truncate a table referenced in a foreign key constraint")
            .detail(concat("Table \"", name, "\" references \"", table.name, "\"."))
            .hint(concat("Truncate table \"", name,
                         "\" at the same time, or use TRUNCATE ... CASCADE."));
      }
      notice(sqlstate::successful_completion, concat("truncate cascades to table \"", name, "\""));
      all.push_back(reference.table);
    }
  }
  return all;
}

}  // namespace pgsilo
