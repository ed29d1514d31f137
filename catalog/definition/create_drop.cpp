// CREATE TABLE, DROP TABLE, DROP INDEX, TRUNCATE.
#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/long_work.h"
#include "catalog/definition/definition_steps.h"
#include "catalog/named_relation.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "storage/relation/relation.h"

namespace pgsilo {

namespace {

constexpr size_t key_column_work = 1024;

// The primary key first; a key over the same columns as an earlier one is the same index
// (PostgreSQL's transformIndexConstraints).
std::vector<IndexDefinition> distinct_keys(const TableDefinition& from) {
  std::vector<IndexDefinition> keys;
  // There may be thousands: where a key over these columns is, if there is one.
  std::map<std::pair<bool, std::vector<std::string_view>>, size_t> places;
  auto add = [&](const IndexDefinition& key) {
    did_work(key.columns.size() * key_column_work);
    std::pair<bool, std::vector<std::string_view>> what{key.nulls_not_distinct, {}};
    for (const IndexColumnDefinition& column : key.columns) what.second.push_back(column.column);
    auto [place, is_new] = places.emplace(std::move(what), keys.size());
    if (is_new) return keys.push_back(key);
    IndexDefinition& earlier = keys[place->second];
    if (earlier.name.empty()) earlier.name = key.name;
  };
  for (const IndexDefinition& key : from.keys) {
    if (!key.primary) continue;
    if (!keys.empty()) {
      throw SqlError(sqlstate::invalid_table_definition,
                     concat("multiple primary keys for table \"", from.name, "\" are not allowed"))
          .at(key.position);
    }
    add(key);
  }
  for (const IndexDefinition& key : from.keys) {
    if (!key.primary) add(key);
  }
  return keys;
}

void check_on_commit(const TableDefinition& from, RelationPersistence persistence) {
  if (!from.on_commit || persistence == RelationPersistence::temporary) return;
  throw SqlError(sqlstate::invalid_table_definition,
                 "ON COMMIT can only be used on temporary tables");
}

}  // namespace

void DefinitionSteps::create_table(const TableDefinition& from, bool if_not_exists,
                                   const TableDescriptor** created) {
  RelationPersistence persistence = from.persistence;
  const SchemaDescriptor& schema = creation_schema(from.schema, &persistence);
  if (schema.oid == system_oid::schema_pg_catalog) {
    throw SqlError(sqlstate::insufficient_privilege,
                   concat("permission denied to create \"", schema.name, ".", from.name, "\""))
        .detail("System catalog modifications are currently disallowed.");
  }
  if (if_not_exists && name_taken(schema.oid, from.name)) {
    notice(sqlstate::duplicate_table,
           concat("relation \"", from.name, "\" already exists, skipping"));
    return;
  }
  check_on_commit(from, persistence);
  check_column_names(from.columns);
  std::vector<IndexDefinition> keys = distinct_keys(from);
  check_name_free(schema.oid, from.name);
  rest_on_schema(schema.oid);

  Draft draft;
  draft.table = std::make_shared<TableDescriptor>();
  TableDescriptor& table = *draft.table;
  table.oid = new_oid();
  table.schema = schema.oid;
  table.schema_name = schema.name;
  table.name = from.name;
  table.persistence = persistence;
  table.on_commit = from.on_commit.value_or(OnCommit::preserve_rows);
  table.options = from.options;
  for (const ColumnDefinition& column : from.columns) add_column_to(table, column);
  TakenNames taken;
  for (const IndexDefinition& key : keys) {
    std::shared_ptr<IndexDescriptor> index = make_index(table, key, taken);
    ConstraintDescriptor constraint = make_key_constraint(*index, key);
    index->constraint = constraint.oid;
    table.constraints.push_back(std::move(constraint));
    if (key.primary) {
      for (const IndexColumn& column : index->columns) {
        table.columns[static_cast<size_t>(column.number) - 1].not_null = true;
      }
    }
    draft.indexes.push_back(std::move(index));
  }
  for (const CheckDefinition& check : from.checks)
    table.constraints.push_back(make_check(table, check, taken));

  move_array_type(schema.oid, from.name, /*for_relation=*/true);
  table.row_type = new_oid();
  table.array_type = new_oid();
  table.relation = &new_relation(table.persistence);
  table.relation_id = table.relation->id();
  for (auto& index : draft.indexes) {
    if (!index->primary) give_new_tree(table, changed(index));
  }
  complete_descriptor(table, std::move(draft.indexes), {});
  insert_table_rows(table);
  view_.put_table(std::move(draft.table));
  if (created != nullptr) *created = &table_of(table.oid);
}

void DefinitionSteps::add_column_to(TableDescriptor& table, const ColumnDefinition& from) {
  if (table.kind != RelationKind::view) refuse_system_column(from.name);
  auto number = static_cast<int16_t>(table.columns.size() + 1);
  if (!from.sequence) return table.columns.push_back(make_column(from, number));
  ColumnDefinition column = from;
  add_column_sequence(table, number, &column);
  table.columns.push_back(make_column(column, number));
}

void DefinitionSteps::insert_table_rows(const TableDescriptor& table) {
  writer_.insert(rows_.class_of(table));
  writer_.insert(rows_.row_type(table));
  std::string array_name = array_type_name(table.schema, table.name);
  writer_.insert(rows_.array_type(table, array_name));
  for (const ColumnDescriptor& column : table.columns) {
    writer_.insert(rows_.attribute(table, column));
    if (column.has_default()) insert_default_rows(table, column);
  }
  for (const auto& index : table.indexes) insert_index_rows(table, *index);
  for (const ConstraintDescriptor& constraint : table.constraints) {
    insert_constraint_rows(table, constraint);
  }
}

namespace {

struct KindWords {
  std::string_view word;     // "view"
  std::string_view article;  // "a view"
};

KindWords words_of(RelationKind kind) {
  switch (kind) {
    case RelationKind::view:
      return {"view", "a view"};
    case RelationKind::sequence:
      return {"sequence", "a sequence"};
    case RelationKind::index:
      return {"index", "an index"};
    case RelationKind::table:
      break;
  }
  return {"table", "a table"};
}

[[noreturn]] void refuse_to_drop(std::string_view name, std::string_view as, RelationKind kind) {
  std::string command(words_of(kind).word);
  for (char& letter : command) letter = static_cast<char>(letter - 'a' + 'A');
  throw SqlError(sqlstate::wrong_object_type, concat("\"", name, "\" is not ", as))
      .hint(concat("Use DROP ", command, " to remove ", words_of(kind).article, "."));
}

}  // namespace

const TableDescriptor* DefinitionSteps::find_to_drop(RelationKind kind,
                                                     const DataDefinition::ObjectName& name,
                                                     bool if_exists) {
  const TableDescriptor* found = view_.find_table(name.schema, name.name);
  if (found != nullptr && found->kind != kind)
    refuse_to_drop(name.name, words_of(kind).article, found->kind);
  if (found != nullptr) return found;
  if (view_.find_index(name.schema, name.name) != nullptr)
    refuse_to_drop(name.name, words_of(kind).article, RelationKind::index);
  std::string missing = concat(words_of(kind).word, " \"", name.name, "\" does not exist");
  if (!if_exists) throw SqlError(sqlstate::undefined_table, missing);
  notice(sqlstate::successful_completion, missing + ", skipping");
  return nullptr;
}

void DefinitionSteps::drop_tables(std::span<const DataDefinition::ObjectName> names, bool if_exists,
                                  bool cascade) {
  std::vector<Oid> found;
  for (const DataDefinition::ObjectName& name : names) {
    if (skip_missing_schema(name.schema, if_exists)) continue;
    if (const TableDescriptor* table = find_to_drop(RelationKind::table, name, if_exists)) {
      if (std::find(found.begin(), found.end(), table->oid) == found.end())
        found.push_back(table->oid);
    }
  }
  for (Oid oid : found) lock_table(oid);
  drop_dependents_of(found, cascade);
  remove_tables(found);
}

void DefinitionSteps::remove_tables(std::span<const Oid> tables) {
  // Those that stay lose the references of those that go.
  for (Oid oid : tables) remove_references_by(oid);
  require_ok(transaction_.continue_statement());
  for (Oid oid : tables) {
    const TableDescriptor& table = table_of(oid);
    if (table.kind == RelationKind::view) {
      remove_view(table);
    } else {
      remove_table(table);
    }
  }
}

void DefinitionSteps::drop_indexes(std::span<const DataDefinition::ObjectName> names,
                                   bool if_exists, bool cascade) {
  std::vector<Oid> found;
  for (const DataDefinition::ObjectName& name : names) {
    if (skip_missing_schema(name.schema, if_exists)) continue;
    const TableDescriptor* table = nullptr;
    const IndexDescriptor* index = view_.find_index(name.schema, name.name, &table);
    if (index == nullptr) {
      const TableDescriptor* other = view_.find_table(name.schema, name.name);
      if (other != nullptr) refuse_to_drop(name.name, "an index", other->kind);
      if (!if_exists) {
        throw SqlError(sqlstate::undefined_object,
                       concat("index \"", name.name, "\" does not exist"));
      }
      notice(sqlstate::successful_completion,
             concat("index \"", name.name, "\" does not exist, skipping"));
      continue;
    }
    if (index->constraint != invalid_oid) {
      std::string constraint = concat("constraint ", index->name, " on table ", table->name);
      throw SqlError(
          sqlstate::dependent_objects_still_exist,
          concat("cannot drop index ", index->name, " because ", constraint, " requires it"))
          .hint(concat("You can drop ", constraint, " instead."));
    }
    if (std::find(found.begin(), found.end(), index->oid) == found.end())
      found.push_back(index->oid);
  }
  std::map<Oid, std::unordered_set<Oid>> of_tables;
  for (Oid oid : found) {
    const TableDescriptor* table = nullptr;
    const IndexDescriptor* index = view_.snapshot().find_index(oid, &table);
    lock_table(table->oid);
    of_tables[table->oid].insert(oid);
    drop_dependents_of(*table, *index, cascade);
  }
  for (const auto& [table, dropped] : of_tables) {
    Draft draft = draft_of(table_of(table));
    remove_indexes(draft, [&](const auto& index) { return dropped.contains(index.oid); });
    finish(std::move(draft));
  }
}

void DefinitionSteps::truncate(std::span<const Oid> named, bool restart_identity, bool cascade) {
  for (Oid oid : named) lock_table(oid);
  std::vector<Oid> tables = with_referring_tables(named, cascade);
  for (Oid oid : tables) lock_table(oid);
  for (Oid oid : tables) {
    Draft draft = draft_of(table_of(oid));
    // PostgreSQL empties in place what was made since the newest savepoint.
    bool in_place = transaction_.made_since_savepoint(*draft.table->relation);
    if (!in_place) forget_sizes(draft);
    give_new_trees(draft);
    finish_with_new_trees(std::move(draft));
  }
  if (restart_identity) restart_sequences(tables);
}

}  // namespace pgsilo
