// ALTER TABLE: keys, checks, options, names; schemas.
#include <algorithm>

#include "catalog/definition/definition_steps.h"
#include "sql/sql_error.h"
#include "storage/relation/relation.h"
#include "storage/relation/relation_directory.h"
#include "storage/transaction/transaction_scan.h"

namespace pgsilo {

void DefinitionSteps::add_key(Oid oid, const IndexDefinition& from) {
  const TableDescriptor& old_table = lock_table(oid);
  if (from.primary && old_table.has_primary_key()) {
    throw SqlError(sqlstate::invalid_table_definition, concat("multiple primary keys for table \"",
                                                              old_table.name, "\" are not allowed"))
        .at(from.position);
  }
  Draft draft = draft_of(old_table);
  count_rows(draft, old_table);
  TakenNames taken(*draft.table);
  std::shared_ptr<IndexDescriptor> index = make_index(*draft.table, from, taken);
  ConstraintDescriptor constraint = make_key_constraint(*index, from);
  index->constraint = constraint.oid;
  writer_.insert(rows_.constraint(*draft.table, constraint));
  draft.table->constraints.push_back(std::move(constraint));
  Oid index_oid = index->oid;
  if (!from.primary) {
    give_new_tree(*draft.table, *index);
    draft.indexes.push_back(std::move(index));
    const TableDescriptor& table = finish(std::move(draft));
    insert_index_rows(table, *table.find_index(index_oid));
    return build_index(table, index_oid);
  }
  std::vector<int16_t> nullable;
  for (const IndexColumn& part : index->columns) {
    ColumnDescriptor& column = draft.table->columns[static_cast<size_t>(part.number) - 1];
    if (column.not_null) continue;
    nullable.push_back(part.number);
    column.not_null = true;
    writer_.update(rows_.attribute(*draft.table, column));
  }
  check_no_nulls(old_table, nullable);
  draft.indexes.push_back(std::move(index));
  rewrite(std::move(draft), old_table, nullptr, 0);
  const TableDescriptor& table = table_of(oid);
  insert_index_rows(table, *table.find_index(index_oid));
}

void DefinitionSteps::add_check(Oid oid, const CheckDefinition& from, RowTransform* check) {
  const TableDescriptor& old_table = lock_table(oid);
  Draft draft = draft_of(old_table);
  TakenNames taken(*draft.table);
  ConstraintDescriptor constraint = make_check(*draft.table, from, taken);
  if (check != nullptr) visit_rows(oid, *check, /*validates=*/false);
  insert_constraint_rows(*draft.table, constraint);
  draft.table->constraints.push_back(std::move(constraint));
  finish(std::move(draft));
}

void DefinitionSteps::visit_rows(Oid oid, RowTransform& visitor, bool validates) {
  const TableDescriptor& table = table_of(oid);
  std::vector<Datum> values(table.columns.size());
  Arena padding;
  for_each_row(
      table,
      [&](std::string_view, std::string_view row) {
        padding.reset();
        table.layout.decode(row, values, padding);
        visitor.apply(values);
      },
      validates ? ReadPurpose::passing : ReadPurpose::plain);
}

void DefinitionSteps::drop_constraint(Oid oid, std::string_view name, bool if_exists,
                                      bool cascade) {
  const ConstraintDescriptor* found = lock_table(oid).find_constraint(name);
  if (found != nullptr && found->index != invalid_oid && !found->foreign_key)
    drop_dependents_of(table_of(oid), *table_of(oid).find_index(found->index), cascade);
  const TableDescriptor& old_table = table_of(oid);
  found = old_table.find_constraint(name);
  if (found == nullptr) {
    std::string message =
        concat("constraint \"", name, "\" of relation \"", old_table.name, "\" does not exist");
    if (!if_exists) throw SqlError(sqlstate::undefined_object, message);
    return notice(sqlstate::successful_completion, message + ", skipping");
  }
  if (found->foreign_key && found->foreign_key->referenced_table != oid) {
    IncomingReference reference{oid, found->oid};
    remove_reference(found->foreign_key->referenced_table, reference);
  }
  Draft draft = draft_of(old_table);
  if (found->foreign_key) {
    remove_foreign_key(draft, found->oid);
  } else if (found->index != invalid_oid) {
    bool primary = found->type == ConstraintType::primary_key;
    remove_index(draft, found->index);
    if (primary) return rewrite(std::move(draft), old_table, nullptr, 0);
  } else {
    remove_constraint_rows(*found);
    std::erase_if(draft.table->constraints, [&](const ConstraintDescriptor& constraint) {
      return constraint.oid == found->oid;
    });
  }
  finish(std::move(draft));
}

void DefinitionSteps::set_options(Oid oid, std::vector<std::string> options) {
  const TableDescriptor* owner = nullptr;
  if (view_.snapshot().find_index(oid, &owner) != nullptr) {
    Draft draft = draft_of(lock_table(owner->oid));
    for (auto& index : draft.indexes) {
      if (index->oid != oid) continue;
      changed(index).options = std::move(options);
      writer_.update(rows_.class_of(*draft.table, *index));
      break;
    }
    finish(std::move(draft));
    return;
  }
  Draft draft = draft_of(lock_table(oid));
  draft.table->options = std::move(options);
  finish(std::move(draft));
}

void DefinitionSteps::rename_relation(Oid oid, std::string_view new_name) {
  const TableDescriptor* owner = nullptr;
  if (const IndexDescriptor* index = view_.snapshot().find_index(oid, &owner)) {
    return rename_index(*owner, index->oid, new_name);
  }
  const TableDescriptor& old_table = lock_table(oid);
  check_name_free(old_table.schema, new_name);
  Draft draft = draft_of(old_table);
  draft.table->name = new_name;
  if (old_table.kind == RelationKind::sequence) {
    finish(std::move(draft));
    return;
  }
  move_array_type(old_table.schema, new_name, /*for_relation=*/true);
  std::string array_name = array_type_name(old_table.schema, new_name);
  writer_.update(rows_.array_type(*draft.table, array_name));
  finish(std::move(draft));
}

void DefinitionSteps::rename_index(const TableDescriptor& of_table, Oid oid,
                                   std::string_view new_name) {
  const TableDescriptor& old_table = lock_table(of_table.oid);
  check_name_free(old_table.schema, new_name);
  Draft draft = draft_of(old_table);
  for (auto& index : draft.indexes) {
    if (index->oid != oid) continue;
    changed(index).name = new_name;
    writer_.update(rows_.class_of(*draft.table, *index));
    for (ConstraintDescriptor& constraint : draft.table->constraints) {
      if (constraint.oid != index->constraint) continue;
      constraint.name = new_name;
      writer_.update(rows_.constraint(*draft.table, constraint));
    }
  }
  finish(std::move(draft));
}

void DefinitionSteps::rename_constraint(Oid oid, std::string_view name, std::string_view new_name) {
  const TableDescriptor& old_table = lock_table(oid);
  const ConstraintDescriptor* found = old_table.find_constraint(name);
  if (found == nullptr) {
    throw SqlError(sqlstate::undefined_object, concat("constraint \"", name, "\" for table \"",
                                                      old_table.name, "\" does not exist"));
  }
  if (old_table.find_constraint(new_name) != nullptr) {
    throw SqlError(sqlstate::duplicate_object,
                   concat("constraint \"", new_name, "\" for relation \"", old_table.name,
                          "\" already exists"));
  }
  if (found->index != invalid_oid && !found->foreign_key)
    return rename_index(old_table, found->index, new_name);
  Draft draft = draft_of(old_table);
  for (ConstraintDescriptor& constraint : draft.table->constraints) {
    if (constraint.oid != found->oid) continue;
    constraint.name = new_name;
    writer_.update(rows_.constraint(*draft.table, constraint));
  }
  finish(std::move(draft));
}

void DefinitionSteps::create_schema(std::string_view name, bool if_not_exists) {
  if (name.starts_with("pg_")) {
    throw SqlError(sqlstate::reserved_name, concat("unacceptable schema name \"", name, "\""))
        .detail("The prefix \"pg_\" is reserved for system schemas.");
  }
  if (view_.find_schema(name) != nullptr) {
    std::string message = concat("schema \"", name, "\" already exists");
    if (!if_not_exists) throw SqlError(sqlstate::duplicate_schema, message);
    return notice(sqlstate::duplicate_schema, message + ", skipping");
  }
  SchemaDescriptor schema{new_oid(), std::string(name)};
  writer_.insert(rows_.schema(schema, system_oid::role_postgres));
  view_.put_schema(std::move(schema));
}

}  // namespace pgsilo
