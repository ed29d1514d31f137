#include "executor/ddl/table_like.h"

#include <algorithm>

#include "catalog/comments.h"
#include "catalog/definition/object_names.h"
#include "planner/stored/stored_tree.h"

namespace pgsilo {

// As the parser's bits.
enum TableLikeness::Part : uint32_t {
  comments = 1u << 0,
  constraints = 1u << 2,
  defaults = 1u << 3,
  generated = 1u << 4,
  identity = 1u << 5,
  indexes = 1u << 6,
  statistics = 1u << 7,
  storage = 1u << 8,
};

namespace {

const TableDescriptor& require_likeable(DdlRun& run, const ast::RangeVar& name) {
  try {
    const TableDescriptor& source = *run.find_relation(name);
    if (source.kind != RelationKind::sequence) return source;
    throw SqlError(sqlstate::wrong_object_type,
                   concat("relation \"", source.name, "\" is invalid in LIKE clause"))
        .detail("This operation is not supported for sequences.");
  } catch (SqlError& error) {
    error.amend().position = run.position(name.location);
    throw;
  }
}

SequenceOptions options_like(const SequenceDefinition& definition) {
  SequenceOptions options;
  options.increment = definition.increment;
  options.start = definition.start;
  options.cache = definition.cache;
  options.cycles = definition.cycles;
  options.max_value = {true, definition.max_value};
  options.min_value = {true, definition.min_value};
  return options;
}

// Of the key's index; null: none of the new table's is like it.
const IndexDescriptor* find_like(const TableDescriptor& table, const TableDescriptor& source,
                                 const IndexDescriptor& index) {
  auto name_of = [](const TableDescriptor& of, const IndexColumn& column) -> std::string_view {
    return of.columns[static_cast<size_t>(column.number) - 1].name;
  };
  for (const auto& each : table.indexes) {
    bool is_like = each->constraint != invalid_oid && each->primary == index.primary &&
                   std::ranges::equal(each->columns, index.columns,
                                      [&](const IndexColumn& left, const IndexColumn& right) {
                                        return name_of(table, left) == name_of(source, right);
                                      });
    if (is_like) return each.get();
  }
  return nullptr;
}

}  // namespace

TableLikeness::TableLikeness(DdlRun& run, const ast::TableLike& clause)
    : run_(run),
      owner_(run.catalog().shared_snapshot()),
      source_(require_likeable(run, *clause.relation)),
      parts_(clause.options) {}

ColumnDefinition TableLikeness::column_like(const ColumnDescriptor& column) const {
  ColumnDefinition made;
  made.name = column.name;
  made.type = column.type;
  made.typmod = column.typmod;
  made.collation = column.collation;
  made.not_null = column.not_null;
  made.generated = column.generated && takes(Part::generated);
  if (takes(Part::defaults) && !column.generated) made.default_value = column.default_value;
  if (takes(Part::identity) && column.identity != IdentityKind::none) {
    const TableDescriptor& sequence = run_.table(column.identity_sequence);
    made.sequence = {options_like(sequence.sequence->definition), column.identity, {}, {}};
  }
  return made;
}

void TableLikeness::add_columns(TableDefinition* table) {
  for (const ColumnDescriptor& column : source_.columns) {
    if (!column.dropped) table->columns.push_back(column_like(column));
  }
}

size_t TableLikeness::place_of(const TableShape& shape, int16_t number) const {
  const std::string& name = source_.columns[static_cast<size_t>(number) - 1].name;
  return static_cast<size_t>(std::ranges::find(shape.names, name) - shape.names.begin());
}

// The same columns have other numbers in the new table.
StoredExpression TableLikeness::expression_over(const TableShape& shape,
                                                const StoredExpression& expression) {
  auto slot_of = [&](int16_t number, Oid, int32_t) {
    return column_slot(run_.binding(), shape, static_cast<int16_t>(place_of(shape, number) + 1));
  };
  return store_expression(run_.catalog(), *read_expression(run_.binding(), expression, slot_of));
}

IndexDefinition TableLikeness::index_like(const IndexDescriptor& index, const TableShape& shape) {
  IndexDefinition made;
  made.unique = index.unique;
  made.primary = index.primary;
  made.is_constraint = index.constraint != invalid_oid;
  made.nulls_not_distinct = index.nulls_not_distinct;
  made.options = index.options;
  for (size_t i = 0; i < index.columns.size(); ++i) {
    const IndexColumn& column = index.columns[i];
    IndexColumnDefinition& to = made.columns.emplace_back();
    to.descending = column.descending;
    to.nulls_first = column.nulls_first;
    const IndexExpression* expression = index.expression_of(i);
    if (expression == nullptr) {
      to.column = source_.columns[static_cast<size_t>(column.number) - 1].name;
      continue;
    }
    to.column = expression->name;
    to.expression = *expression;
    to.expression->value = expression_over(shape, expression->value);
  }
  if (index.is_partial()) made.predicate = expression_over(shape, index.predicate);
  for (int16_t number : index.read_columns)
    made.read_columns.push_back(source_.columns[static_cast<size_t>(number) - 1].name);
  return made;
}

void TableLikeness::add_generations(const TableShape& shape, TableDefinition* table) {
  for (const ColumnDescriptor& column : source_.columns) {
    if (!column.generated) continue;
    ColumnDefinition& made = table->columns[place_of(shape, column.number)];
    made.default_value = expression_over(shape, column.default_value);
    for (int16_t number : column.read_columns)
      made.read_columns.push_back(static_cast<int16_t>(place_of(shape, number) + 1));
    std::ranges::sort(made.read_columns);
  }
}

void TableLikeness::add_expressions(const TableShape& shape, TableDefinition* table) {
  if (takes(Part::generated)) add_generations(shape, table);
  for (const ConstraintDescriptor& constraint : source_.constraints) {
    if (!takes(Part::constraints) || constraint.type != ConstraintType::check) continue;
    CheckDefinition& check = table->checks.emplace_back();
    check.name = constraint.name;
    check.condition = expression_over(shape, constraint.check);
    for (int16_t number : constraint.columns)
      check.columns.push_back(source_.columns[static_cast<size_t>(number) - 1].name);
  }
  for (const auto& index : source_.indexes) {
    if (takes(Part::indexes) && index->constraint != invalid_oid)
      table->keys.push_back(index_like(*index, shape));
  }
}

void TableLikeness::complete(Oid table) {
  if (takes(Part::indexes)) copy_indexes(table);
  if (takes(Part::statistics)) copy_statistics(table);
  copy_column_settings(table);
  if (!takes(Part::comments)) return;
  copy_comments_of_columns(table);
  if (takes(Part::constraints)) copy_comments_of_checks(table);
}

void TableLikeness::copy_indexes(Oid table) {
  for (const auto& index : source_.indexes) {
    const IndexDescriptor* made = find_like(run_.table(table), source_, *index);
    if (index->constraint == invalid_oid) {
      TableShape shape = TableShape::of(run_.table(table));
      run_.finish(run_.definition().create_index(table, index_like(*index, shape), false));
      made = std::ranges::max_element(run_.table(table).indexes, {}, [](const auto& each) {
               return each->oid;
             })->get();
    }
    if (takes(Part::comments) && made != nullptr)
      copy_comment({{system_oid::pg_class, index->oid}}, {{system_oid::pg_class, made->oid}});
  }
}

void TableLikeness::copy_statistics(Oid table) {
  for (const auto& each : source_.combinations) {
    StatisticsDefinition made;
    made.ndistinct = each->ndistinct;
    made.dependencies = each->dependencies;
    made.common = each->common;
    const TableDescriptor& of = run_.table(table);
    std::string columns;
    for (int16_t number : each->columns) {
      const std::string& name = source_.columns[static_cast<size_t>(number) - 1].name;
      columns += concat(columns.empty() ? "" : "_", name);
      made.columns.push_back(of.find_column(name)->number);
    }
    std::ranges::sort(made.columns);
    std::string name = choose_object_name(of.name, columns, "stat", [&](const std::string& taken) {
      return run_.catalog().snapshot().find<StatisticsDescriptor>(of.schema, taken) != nullptr;
    });
    made.name = name;
    run_.finish(run_.definition().create_statistics(table, made));
    if (!takes(Part::comments)) continue;
    auto copy =
        run_.catalog().snapshot().find<StatisticsDescriptor>(run_.table(table).schema, name);
    copy_comment({each->address}, {copy->address});
  }
}

void TableLikeness::copy_column_settings(Oid table) {
  if (!takes(Part::storage)) return;
  for (const ColumnDescriptor& column : source_.columns) {
    if (!column.dropped && column.storage != '\0')
      run_.finish(run_.definition().set_storage(table, column.name, column.storage));
  }
}

void TableLikeness::copy_comments_of_columns(Oid table) {
  for (const ColumnDescriptor& column : source_.columns) {
    if (column.dropped) continue;
    const ColumnDescriptor& made = find_column(run_, table, column.name);
    copy_comment({{system_oid::pg_class, source_.oid}, column.number},
                 {{system_oid::pg_class, table}, made.number});
  }
}

void TableLikeness::copy_comments_of_checks(Oid table) {
  for (const ConstraintDescriptor& constraint : source_.constraints) {
    if (constraint.type != ConstraintType::check) continue;
    const ConstraintDescriptor* made = run_.table(table).find_constraint(constraint.name);
    if (made == nullptr) continue;
    copy_comment({{system_oid::pg_constraint, constraint.oid}},
                 {{system_oid::pg_constraint, made->oid}});
  }
}

void TableLikeness::copy_comment(const CommentAddress& from, const CommentAddress& to) {
  std::string_view text;
  TransactionStatus status = read_comment(
      run_.catalog().catalog(), *run_.state().session.transaction, from, run_.arena(), &text);
  if (status == TransactionStatus::not_found) return;
  run_.state().check(status);
  run_.finish(run_.definition().set_comment(to, text));
}

}  // namespace pgsilo
