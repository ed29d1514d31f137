// ALTER TABLE: columns.
#include <algorithm>
#include <utility>

#include "catalog/definition/definition_steps.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "storage/relation/relation.h"

namespace pgsilo {

namespace {

// Hands a transform's row on if the column it computes may stay as it is.
class NotNullTransform final : public RowTransform {
 public:
  NotNullTransform(RowTransform& inner, const TableDescriptor& table,
                   const ColumnDescriptor& column)
      : inner_(inner), table_(table), column_(column) {}
  void apply(std::span<Datum> values) override {
    inner_.apply(values);
    if (!column_.not_null || !values[static_cast<size_t>(column_.number) - 1].null) return;
    throw SqlError(sqlstate::not_null_violation,
                   concat("column \"", column_.name, "\" of relation \"", table_.name,
                          "\" contains null values"))
        .table(table_.schema_name, table_.name)
        .column(column_.name);
  }

 private:
  RowTransform& inner_;
  const TableDescriptor& table_;
  const ColumnDescriptor& column_;
};

class SameRow final : public RowTransform {
 public:
  void apply(std::span<Datum>) override {}
};

// Dropped columns keep a name, too: pg_attribute has no two of one table.
bool has_attribute(const TableDescriptor& table, std::string_view name) {
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [&](const ColumnDescriptor& column) { return column.name == name; });
}

}  // namespace

void DefinitionSteps::rewrite(Draft draft, const TableDescriptor& old_table,
                              RowTransform* transform, int16_t checked_column) {
  // The old descriptor goes when the view shows the new one.
  TableDescriptor old_copy = old_table;  // NOLINT(performance-unnecessary-copy-initialization)
  if (transform != nullptr) {
    forget_sizes(draft);
    if (!draft.indexes.empty()) count_rows(draft, old_table);
    // Every row will be stored whole.
    for (ColumnDescriptor& column : draft.table->columns) {
      if (!column.has_missing) continue;
      set_missing(column, Datum());
      writer_.update(rows_.attribute(*draft.table, column));
    }
  }
  give_new_trees(draft);
  const TableDescriptor& table = finish_with_new_trees(std::move(draft));
  if (transform == nullptr || checked_column == 0) return rewrite_rows(old_copy, table, transform);
  NotNullTransform checked(*transform, table,
                           table.columns[static_cast<size_t>(checked_column) - 1]);
  rewrite_rows(old_copy, table, &checked);
}

void DefinitionSteps::rewrite_table(Oid oid) {
  const TableDescriptor& table = lock_table(oid);
  SameRow same;
  rewrite(draft_of(table), table, &same, 0);
}

void DefinitionSteps::add_column(Oid oid, const ColumnDefinition& from, Datum missing,
                                 RowTransform* transform, bool if_not_exists) {
  const TableDescriptor& old_table = lock_table(oid);
  if (has_attribute(old_table, from.name)) {
    std::string message =
        concat("column \"", from.name, "\" of relation \"", old_table.name, "\" already exists");
    if (!if_not_exists) throw SqlError(sqlstate::duplicate_column, message);
    return notice(sqlstate::duplicate_column, message + ", skipping");
  }
  if (old_table.columns.size() >= static_cast<size_t>(limits::max_table_columns)) {
    throw SqlError(sqlstate::too_many_columns,
                   concat("tables can have at most ", limits::max_table_columns, " columns"));
  }
  refuse_system_column(from.name);
  Draft draft = draft_of(old_table);
  auto number = static_cast<int16_t>(old_table.columns.size() + 1);
  draft.table->columns.push_back(make_column(from, number));
  draft.dropped_widths.push_back(0);
  ColumnDescriptor& column = draft.table->columns.back();
  if (transform == nullptr) set_missing(column, missing);
  if (column.not_null && transform == nullptr && missing.null) {
    // No row may exist: each would have a null there.
    for_each_row(old_table, [&](std::string_view, std::string_view) {
      throw SqlError(sqlstate::not_null_violation,
                     concat("column \"", column.name, "\" of relation \"", old_table.name,
                            "\" contains null values"))
          .table(old_table.schema_name, old_table.name)
          .column(column.name);
    });
  }
  writer_.insert(rows_.attribute(*draft.table, column));
  if (column.has_default()) insert_default_rows(*draft.table, column);
  if (transform != nullptr) {
    rewrite(std::move(draft), old_table, transform, number);
  } else {
    finish(std::move(draft));
  }
}

void DefinitionSteps::drop_column(Oid oid, std::string_view name, bool if_exists, bool cascade) {
  const TableDescriptor& locked = lock_table(oid);
  if (if_exists && locked.find_column(name) == nullptr) {
    return notice(
        sqlstate::successful_completion,
        concat("column \"", name, "\" of relation \"", locked.name, "\" does not exist, skipping"));
  }
  drop_dependents_of(locked, column_of(locked, name), cascade);
  remove_references_by(oid, column_of(table_of(oid), name).number);
  const TableDescriptor& old_table = table_of(oid);
  Draft draft = draft_of(old_table);
  ColumnDescriptor& column = column_of(draft, name);
  bool loses_primary_key = false;
  remove_indexes(draft, [&](const IndexDescriptor& index) {
    bool uses = index.reads(column.number);
    loses_primary_key |= uses && index.primary;
    return uses;
  });
  std::erase_if(draft.table->constraints, [&](const ConstraintDescriptor& constraint) {
    if (std::find(constraint.columns.begin(), constraint.columns.end(), column.number) ==
        constraint.columns.end()) {
      return false;
    }
    remove_constraint_rows(constraint);
    std::erase(draft.table->referenced_by, IncomingReference{oid, constraint.oid});
    return true;
  });
  if (column.has_default()) remove_default_rows(column);
  remove_statistics_of(draft, column.number);
  remove_comments({system_oid::pg_class, oid}, column.number);
  ColumnDescriptor gone;
  gone.name = dropped_column_name(column.number);
  // Nobody else has taken it: no further run would find it free.
  if (has_attribute(old_table, gone.name)) {
    throw SqlError(sqlstate::unique_violation,
                   "duplicate key value violates unique constraint "
                   "\"pg_attribute_relid_attnam_index\"")
        .detail(concat("Key (attrelid, attname)=(", oid, ", ", gone.name, ") already exists."))
        .table("pg_catalog", "pg_attribute")
        .constraint("pg_attribute_relid_attnam_index");
  }
  gone.number = column.number;
  gone.dropped = true;
  column = gone;
  writer_.update(rows_.attribute(*draft.table, column));
  if (loses_primary_key) {
    rewrite(std::move(draft), old_table, nullptr, 0);
  } else {
    finish(std::move(draft));
  }
}

void DefinitionSteps::set_column_type(Oid oid, std::string_view name,
                                      const ColumnTypeDefinition& to, RowTransform* transform) {
  const TableDescriptor& old_table = lock_table(oid);
  Draft draft = draft_of(old_table);
  ColumnDescriptor& column = column_of(draft, name);
  refuse_if_generated_from(old_table, column);
  refuse_if_viewed(old_table, column);
  lock_references_of(old_table, column.number);
  column.type = to.type;
  column.user_type = hold_type(to.type);
  column.typmod = to.typmod;
  column.collation = type_info(to.type).collation;
  column.storage = '\0';
  for (const auto& index : draft.indexes) {
    bool uses = std::any_of(index->columns.begin(), index->columns.end(),
                            [&](const IndexColumn& part) { return part.number == column.number; });
    if (uses) require_key_form(to.type);
  }
  if (transform != nullptr) set_missing(column, Datum());
  int16_t number = column.number;
  writer_.update(rows_.attribute(*draft.table, column));
  if (to.default_value != column.default_value)
    replace_default(*draft.table, column, to.default_value);
  for (const auto& [constraint, condition] : to.checks)
    replace_check(*draft.table, constraint, condition);
  for (const IndexExpressions& expressions : to.indexes) replace_index(draft, expressions);
  if (transform != nullptr) {
    rewrite(std::move(draft), old_table, transform, number);
  } else {
    finish(std::move(draft));
  }
  update_index_rows(table_of(oid), number);
  check_foreign_keys_of(table_of(oid), number);
}

void DefinitionSteps::refuse_if_generated_from(const TableDescriptor& table,
                                               const ColumnDescriptor& column) {
  for (const ColumnDescriptor& made : table.columns) {
    if (!made.is_made_of(column.number)) continue;
    throw SqlError(sqlstate::feature_not_supported,
                   "cannot alter type of a column used by a generated column")
        .detail(concat("Column \"", column.name, "\" is used by generated column \"", made.name,
                       "\"."));
  }
}

void DefinitionSteps::replace_index(Draft& draft, const IndexExpressions& to) {
  auto found =
      std::ranges::find(draft.indexes, to.index, [](const auto& each) { return each->oid; });
  remove_index_uses(**found);
  IndexDescriptor& index = changed(*found);
  std::vector<IndexExpression> before = std::exchange(index.expressions, {});
  size_t next = 0;
  for (IndexColumn& column : index.columns) {
    if (column.number != 0) continue;
    const IndexColumnDefinition& key = to.keys[next];
    if (key.expression) {
      require_key_form(key.expression->type);
      index.expressions.push_back(*key.expression);
      index.expressions.back().name = std::move(before[next].name);
    } else {
      const ColumnDescriptor& plain = column_of(draft, key.column);
      require_key_form(plain.type);
      column.number = plain.number;
    }
    ++next;
  }
  index.predicate = to.predicate;
  set_read_columns(*draft.table, to.read_columns, index);
  insert_index_uses(index);
}

// What they say of a column's type.
void DefinitionSteps::update_index_rows(const TableDescriptor& table, int16_t column) {
  for (const auto& index : table.indexes) {
    if (!index->reads(column)) continue;
    for (size_t i = 0; i < index->columns.size(); ++i)
      writer_.update(rows_.attribute(table, *index, i));
    writer_.update(rows_.index(table, *index));
  }
}

void DefinitionSteps::replace_default(TableDescriptor& table, ColumnDescriptor& column,
                                      const StoredExpression& value) {
  ObjectAddress address{system_oid::pg_attrdef, column.default_oid};
  remove_uses(address, column.default_value.uses);
  column.default_value = value;
  writer_.update(rows_.default_expression(table, column));
  insert_uses(address, column.default_value.uses);
}

void DefinitionSteps::replace_check(TableDescriptor& table, Oid oid,
                                    const StoredExpression& condition) {
  for (ConstraintDescriptor& constraint : table.constraints) {
    if (constraint.oid != oid || constraint.check == condition) continue;
    ObjectAddress address{system_oid::pg_constraint, oid};
    remove_uses(address, constraint.check.uses);
    constraint.check = condition;
    writer_.update(rows_.constraint(table, constraint));
    insert_uses(address, constraint.check.uses);
  }
}

void DefinitionSteps::set_default(Oid oid, std::string_view name, StoredExpression value) {
  Draft draft = draft_of(lock_table(oid));
  ColumnDescriptor& column = column_of(draft, name);
  if (column.identity != IdentityKind::none) {
    SqlError error(sqlstate::syntax_error, concat("column \"", name, "\" of relation \"",
                                                  draft.table->name, "\" is an identity column"));
    if (value.empty())
      error.amend().hint = "Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead.";
    throw error;
  }
  if (column.generated) {
    SqlError error(sqlstate::syntax_error, concat("column \"", name, "\" of relation \"",
                                                  draft.table->name, "\" is a generated column"));
    if (value.empty())
      error.amend().hint = "Use ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION instead.";
    throw error;
  }
  if (column.has_default()) remove_default_rows(column);
  column.default_value = std::move(value);
  column.default_oid = column.has_default() ? new_oid() : invalid_oid;
  if (column.has_default()) insert_default_rows(*draft.table, column);
  writer_.update(rows_.attribute(*draft.table, column));
  finish(std::move(draft));
}

void DefinitionSteps::drop_generation(Oid oid, std::string_view name, bool if_exists) {
  Draft draft = draft_of(lock_table(oid));
  ColumnDescriptor& column = column_of(draft, name);
  if (!column.generated) {
    std::string message = concat("column \"", name, "\" of relation \"", draft.table->name,
                                 "\" is not a stored generated column");
    if (!if_exists) throw SqlError(sqlstate::object_not_in_prerequisite_state, message);
    return notice(sqlstate::successful_completion, message + ", skipping");
  }
  remove_default_rows(column);
  column.default_value = {};
  column.default_oid = invalid_oid;
  column.generated = false;
  column.read_columns.clear();
  writer_.update(rows_.attribute(*draft.table, column));
  finish(std::move(draft));
}

void DefinitionSteps::set_expressions(Oid oid, const TableExpressions& expressions) {
  Draft draft = draft_of(lock_table(oid));
  for (const auto& [number, value] : expressions.defaults)
    replace_default(*draft.table, draft.table->columns[static_cast<size_t>(number) - 1], value);
  for (const auto& [constraint, condition] : expressions.checks)
    replace_check(*draft.table, constraint, condition);
  finish(std::move(draft));
}

void DefinitionSteps::set_not_null(Oid oid, std::string_view name, bool not_null) {
  const TableDescriptor& old_table = lock_table(oid);
  Draft draft = draft_of(old_table);
  ColumnDescriptor& column = column_of(draft, name);
  if (const IndexDescriptor* primary = old_table.primary_index(); primary != nullptr && !not_null) {
    for (const IndexColumn& part : primary->columns) {
      if (part.number != column.number) continue;
      throw SqlError(sqlstate::invalid_table_definition,
                     concat("column \"", name, "\" is in a primary key"));
    }
  }
  if (!not_null && column.identity != IdentityKind::none) {
    throw SqlError(sqlstate::syntax_error, concat("column \"", name, "\" of relation \"",
                                                  old_table.name, "\" is an identity column"));
  }
  if (not_null && !column.not_null) check_no_nulls(old_table, {&column.number, 1});
  column.not_null = not_null;
  writer_.update(rows_.attribute(*draft.table, column));
  finish(std::move(draft));
}

void DefinitionSteps::set_statistics_target(Oid oid, std::string_view name, int32_t target) {
  change_column(oid, name, [&](ColumnDescriptor& column) { column.statistics_target = target; });
}

void DefinitionSteps::set_storage(Oid oid, std::string_view name, char storage) {
  change_column(oid, name, [&](ColumnDescriptor& column) {
    column.storage = storage == type_info(column.type).storage ? '\0' : storage;
  });
}

void DefinitionSteps::change_column(Oid oid, std::string_view name,
                                    const std::function<void(ColumnDescriptor&)>& change) {
  Draft draft = draft_of(lock_table(oid));
  ColumnDescriptor& column = column_of(draft, name);
  change(column);
  writer_.update(rows_.attribute(*draft.table, column));
  finish(std::move(draft));
}

void DefinitionSteps::rename_column(Oid oid, std::string_view name, std::string_view new_name) {
  const TableDescriptor& old_table = lock_table(oid);
  Draft draft = draft_of(old_table);
  if (old_table.find_column(name) == nullptr) {
    throw SqlError(sqlstate::undefined_column, concat("column \"", name, "\" does not exist"));
  }
  ColumnDescriptor& column = column_of(draft, name);
  if (has_attribute(old_table, new_name)) {
    throw SqlError(sqlstate::duplicate_column, concat("column \"", new_name, "\" of relation \"",
                                                      old_table.name, "\" already exists"));
  }
  column.name = new_name;
  writer_.update(rows_.attribute(*draft.table, column));
  finish(std::move(draft));
}

}  // namespace pgsilo
