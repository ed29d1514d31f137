// Columns, indexes and constraints of a table, checked and written.
#include <algorithm>

#include "base/long_work.h"
#include "catalog/definition/definition_steps.h"
#include "catalog/definition/object_names.h"
#include "sql/internal_error.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "storage/relation/relation.h"
#include "storage/relation/relation_directory.h"

namespace pgsilo {

namespace {

// Of an index or a constraint, of which one statement may have thousands.
constexpr size_t part_work = WorkMeter::block / 16;

constexpr std::string_view system_column_names[] = {"tableoid", "cmax", "xmax",
                                                    "cmin",     "xmin", "ctid"};

std::string display_name(Oid type) {
  ByteBuffer name;
  format_type(type, no_typmod, name);
  return std::string(name.view());
}

// 42710.
void refuse_taken(const TableDescriptor& table, const std::string& name, const TakenNames& taken) {
  if (!taken.contains(name)) return;
  throw SqlError(sqlstate::duplicate_object, concat("constraint \"", name, "\" for relation \"",
                                                    table.name, "\" already exists"));
}

[[noreturn]] void throw_no_column(const TableDescriptor& table, std::string_view name) {
  throw SqlError(sqlstate::undefined_column,
                 concat("column \"", name, "\" of relation \"", table.name, "\" does not exist"));
}

}  // namespace

void DefinitionSteps::check_column_names(std::span<const ColumnDefinition> columns) {
  if (columns.size() > static_cast<size_t>(limits::max_table_columns)) {
    throw SqlError(sqlstate::too_many_columns,
                   concat("tables can have at most ", limits::max_table_columns, " columns"));
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (columns[i].name != columns[j].name) continue;
      throw SqlError(sqlstate::duplicate_column,
                     concat("column \"", columns[i].name, "\" specified more than once"));
    }
  }
}

void DefinitionSteps::refuse_system_column(std::string_view name) {
  for (std::string_view reserved : system_column_names) {
    if (name != reserved) continue;
    throw SqlError(sqlstate::duplicate_column,
                   concat("column name \"", name, "\" conflicts with a system column name"));
  }
}

ColumnDescriptor DefinitionSteps::make_column(const ColumnDefinition& from, int16_t number) {
  const TypeInfo& type = type_info(from.type);
  if (type.typtype == 'p' || type.oid == type_oid::unknown) {
    throw SqlError(sqlstate::invalid_table_definition,
                   concat("column \"", from.name, "\" has pseudo-type ", display_name(from.type)));
  }
  ColumnDescriptor to;
  to.name = from.name;
  to.number = number;
  to.type = from.type;
  to.user_type = hold_type(from.type);
  to.typmod = from.typmod;
  to.collation = from.collation != invalid_oid ? from.collation : type.collation;
  to.not_null = from.not_null;
  if (!from.default_value.empty()) {
    to.default_value = from.default_value;
    to.default_oid = new_oid();
    to.generated = from.generated;
    to.read_columns = from.read_columns;
  }
  if (from.identity_sequence != invalid_oid) {
    to.identity = from.sequence->identity;
    to.identity_sequence = from.identity_sequence;
  }
  return to;
}

const ColumnDescriptor& DefinitionSteps::column_of(const TableDescriptor& table,
                                                   std::string_view name) {
  const ColumnDescriptor* column = table.find_column(name);
  if (column == nullptr) throw_no_column(table, name);
  return *column;
}

ColumnDescriptor& DefinitionSteps::column_of(Draft& draft, std::string_view name) {
  return draft.table->columns[static_cast<size_t>(column_of(*draft.table, name).number) - 1];
}

void DefinitionSteps::require_key_form(Oid type) {
  const TypeInfo& info = type_info(type);
  if (info.key_form != KeyForm::none) return;
  throw SqlError(sqlstate::undefined_object,
                 concat("data type ", display_name(info.oid),
                        " has no default operator class for access method \"btree\""))
      .hint(
          "You must specify an operator class for the index or define a default operator class "
          "for the data type.");
}

namespace {

IndexColumn make_index_column(const TableDescriptor& table, const IndexDefinition& from,
                              const IndexColumnDefinition& column,
                              const std::vector<IndexColumn>& earlier) {
  const ColumnDescriptor* of_table = table.find_column(column.column);
  if (of_table == nullptr && from.is_constraint) {
    throw SqlError(sqlstate::undefined_column,
                   concat("column \"", column.column, "\" named in key does not exist"))
        .at(column.position);
  }
  if (of_table == nullptr) {
    throw SqlError(sqlstate::undefined_column,
                   concat("column \"", column.column, "\" does not exist"))
        .at(column.position);
  }
  bool repeated = std::any_of(earlier.begin(), earlier.end(), [&](const IndexColumn& other) {
    return other.number == of_table->number;
  });
  if (repeated && from.is_constraint) {
    throw SqlError(sqlstate::duplicate_column,
                   concat("column \"", column.column, "\" appears twice in ",
                          from.primary ? "primary key" : "unique", " constraint"))
        .at(column.position);
  }
  return {of_table->number, column.descending, column.nulls_first};
}

}  // namespace

std::shared_ptr<IndexDescriptor> DefinitionSteps::make_index(const TableDescriptor& table,
                                                             const IndexDefinition& from,
                                                             TakenNames& taken) {
  did_work(part_work);
  if (from.columns.size() > static_cast<size_t>(limits::max_index_columns)) {
    throw SqlError(
        sqlstate::too_many_columns,
        concat("cannot use more than ", limits::max_index_columns, " columns in an index"));
  }
  auto index = std::make_shared<IndexDescriptor>();
  std::vector<std::string_view> column_names;
  for (const IndexColumnDefinition& column : from.columns) {
    column_names.push_back(column.column);
    if (!column.expression) {
      index->columns.push_back(make_index_column(table, from, column, index->columns));
      require_key_form(table.columns[static_cast<size_t>(index->columns.back().number) - 1].type);
      continue;
    }
    require_key_form(column.expression->type);
    index->columns.push_back({0, column.descending, column.nulls_first});
    index->expressions.push_back(*column.expression);
  }
  std::vector<std::string> names = choose_column_names(column_names);
  for (size_t i = 0, next = 0; i < names.size(); ++i) {
    if (index->columns[i].number == 0) index->expressions[next++].name = names[i];
  }
  index->predicate = from.predicate;
  set_read_columns(table, from.read_columns, *index);
  // A table that is being made is not there yet.
  auto is_relation = [&](const std::string& name) {
    return name == table.name || name_taken(table.schema, name);
  };
  if (!from.name.empty()) {
    if (from.is_constraint) refuse_taken(table, from.name, taken);
    if (is_relation(from.name)) {
      throw SqlError(sqlstate::duplicate_table,
                     concat("relation \"", from.name, "\" already exists"));
    }
    index->name = from.name;
  } else if (from.primary) {
    index->name = taken.choose(table.name, {}, "pkey", is_relation);
  } else {
    std::string_view label = from.is_constraint ? "key" : "idx";
    column_names.assign(names.begin(), names.end());
    index->name = taken.choose(table.name, join_column_names(column_names), label, is_relation);
  }
  taken.add(index->name);
  index->oid = new_oid();
  index->table_oid = table.oid;
  index->unique = from.unique || from.primary;
  index->primary = from.primary;
  index->nulls_not_distinct = from.nulls_not_distinct;
  index->options = from.options;
  return index;
}

void DefinitionSteps::set_read_columns(const TableDescriptor& table,
                                       std::span<const std::string> names, IndexDescriptor& index) {
  index.read_columns.clear();
  for (const std::string& name : names) index.read_columns.push_back(column_of(table, name).number);
  std::ranges::sort(index.read_columns);
}

ConstraintDescriptor DefinitionSteps::make_key_constraint(const IndexDescriptor& index,
                                                          const IndexDefinition& from) {
  ConstraintDescriptor constraint;
  constraint.oid = new_oid();
  constraint.name = index.name;
  constraint.type = from.primary ? ConstraintType::primary_key : ConstraintType::unique;
  for (const IndexColumn& column : index.columns) constraint.columns.push_back(column.number);
  constraint.index = index.oid;
  return constraint;
}

ConstraintDescriptor DefinitionSteps::make_check(const TableDescriptor& table,
                                                 const CheckDefinition& from, TakenNames& taken) {
  did_work(part_work);
  ConstraintDescriptor constraint;
  if (from.name.empty()) {
    constraint.name = choose_check_name(table.name, from, taken);
  } else {
    refuse_taken(table, from.name, taken);
    constraint.name = from.name;
  }
  taken.add(constraint.name);
  constraint.oid = new_oid();
  constraint.type = ConstraintType::check;
  for (const std::string& column : from.columns)
    constraint.columns.push_back(column_of(table, column).number);
  constraint.check = from.condition;
  return constraint;
}

void DefinitionSteps::insert_index_rows(const TableDescriptor& table,
                                        const IndexDescriptor& index) {
  writer_.insert(rows_.class_of(table, index));
  for (size_t i = 0; i < index.columns.size(); ++i)
    writer_.insert(rows_.attribute(table, index, i));
  writer_.insert(rows_.index(table, index));
  insert_index_uses(index);
}

void DefinitionSteps::insert_index_uses(const IndexDescriptor& index) {
  ObjectAddress address{system_oid::pg_class, index.oid};
  for (int16_t column : index.read_columns) {
    writer_.insert(rows_.dependency(address, {system_oid::pg_class, index.table_oid}, column, 'a'));
  }
  insert_uses(address, index.uses());
}

void DefinitionSteps::remove_index_uses(const IndexDescriptor& index) {
  ObjectAddress address{system_oid::pg_class, index.oid};
  for (int16_t column : index.read_columns) {
    remove_row(system_oid::pg_depend,
               {address.catalog, address.oid, 0, system_oid::pg_class, index.table_oid, column});
  }
  remove_uses(address, index.uses());
}

void DefinitionSteps::remove_index_rows(const IndexDescriptor& index) {
  remove_index_uses(index);
  remove_row(system_oid::pg_index, {index.oid});
  for (size_t i = 0; i < index.columns.size(); ++i) {
    remove_row(system_oid::pg_attribute, {index.oid, static_cast<int64_t>(i + 1)});
  }
  remove_row(system_oid::pg_class, {index.oid});
  remove_comments({system_oid::pg_class, index.oid});
}

void DefinitionSteps::insert_constraint_rows(const TableDescriptor& table,
                                             const ConstraintDescriptor& constraint) {
  writer_.insert(rows_.constraint(table, constraint));
  insert_uses({system_oid::pg_constraint, constraint.oid}, constraint.check.uses);
}

void DefinitionSteps::remove_constraint_rows(const ConstraintDescriptor& constraint) {
  remove_row(system_oid::pg_constraint, {constraint.oid});
  remove_comments({system_oid::pg_constraint, constraint.oid});
  remove_uses({system_oid::pg_constraint, constraint.oid}, constraint.check.uses);
}

void DefinitionSteps::insert_default_rows(const TableDescriptor& table,
                                          const ColumnDescriptor& column) {
  ObjectAddress address{system_oid::pg_attrdef, column.default_oid};
  ObjectAddress of{system_oid::pg_class, table.oid};
  writer_.insert(rows_.default_expression(table, column));
  insert_uses(address, column.default_value.uses);
  if (!column.generated) return;
  writer_.insert(rows_.dependency(address, of, column.number, 'i'));
  for (int16_t read : column.read_columns) writer_.insert(rows_.dependency(address, of, read, 'n'));
}

void DefinitionSteps::remove_default_rows(const ColumnDescriptor& column) {
  ObjectAddress address{system_oid::pg_attrdef, column.default_oid};
  remove_row(system_oid::pg_attrdef, {column.default_oid});
  if (column.generated) {
    remove_dependencies(address);
  } else {
    remove_uses(address, column.default_value.uses);
  }
}

// Whoever drops a sequence or a type looks for the expressions that name it: he and who makes one
// notice each other by its row.
void DefinitionSteps::insert_uses(ObjectAddress expression, const ExpressionUses& uses) {
  for (Oid sequence : uses.sequences) {
    bool is_new = table_of(sequence).record.record == nullptr;
    if (!is_new)
      finish(draft_of(lock_table(sequence, {LockMode::access_share})), Concerns::writers);
    writer_.insert(rows_.dependency(expression, {system_oid::pg_class, sequence}, 0, 'n'));
  }
  for (Oid type : uses.types) {
    hold_type(type);
    writer_.insert(rows_.dependency(expression, {system_oid::pg_type, type}, 0, 'n'));
  }
}

void DefinitionSteps::remove_uses(ObjectAddress expression, const ExpressionUses& uses) {
  auto remove = [&](system_oid::Table catalog, Oid used) {
    remove_row(system_oid::pg_depend, {expression.catalog, expression.oid, 0, catalog, used, 0});
  };
  for (Oid sequence : uses.sequences) remove(system_oid::pg_class, sequence);
  for (Oid type : uses.types) remove(system_oid::pg_type, type);
}

void DefinitionSteps::remove_table(const TableDescriptor& table) {
  for (const auto& index : table.indexes) {
    remove_index_rows(*index);
    if (!index->is_primary_tree()) discard_relation(index->relation_id, index->relation);
  }
  for (const ConstraintDescriptor& constraint : table.constraints)
    remove_constraint_rows(constraint);
  for (const ColumnDescriptor& column : table.columns) {
    if (column.has_default()) remove_default_rows(column);
    remove_row(system_oid::pg_attribute, {table.oid, column.number});
  }
  for (const auto& each : table.combinations) remove_statistics(*each);
  remove_row(system_oid::pg_type, {table.row_type});
  remove_row(system_oid::pg_type, {table.array_type});
  remove_row(system_oid::pg_class, {table.oid});
  remove_comments({system_oid::pg_class, table.oid});
  discard_relation(table.relation_id, table.relation);
  view_.remove_table(table.oid);
}

void DefinitionSteps::remove_indexes(Draft& draft,
                                     const std::function<bool(const IndexDescriptor&)>& which) {
  std::erase_if(draft.indexes, [&](const std::shared_ptr<const IndexDescriptor>& index) {
    if (!which(*index)) return false;
    remove_index_rows(*index);
    if (!index->is_primary_tree()) discard_relation(index->relation_id, index->relation);
    if (index->constraint == invalid_oid) return true;
    std::erase_if(draft.table->constraints, [&](const ConstraintDescriptor& constraint) {
      if (constraint.oid != index->constraint) return false;
      remove_constraint_rows(constraint);
      return true;
    });
    return true;
  });
}

void DefinitionSteps::remove_index(Draft& draft, Oid oid) {
  size_t before = draft.indexes.size();
  remove_indexes(draft, [oid](const IndexDescriptor& index) { return index.oid == oid; });
  PGSILO_REQUIRE(draft.indexes.size() + 1 == before);
}

}  // namespace pgsilo
