#include "catalog/descriptor_builder.h"

#include <algorithm>

#include "sql/internal_error.h"
#include "storage/relation/relation.h"

namespace pgsilo {

namespace {

// Of the primary key at the end of each entry that is left out of its payload. An entry of a unique
// index ends with it only where a column is null.
size_t suffix_bytes(const TableDescriptor& table, const IndexDescriptor& index) {
  bool leaves_out =
      !index.unique && index.relation != nullptr && index.relation->encoding().rows >= 2;
  return leaves_out ? table.primary_key.primary_key_bytes() : 0;
}

}  // namespace

KeyLayout make_index_key(const TableDescriptor& table, const IndexDescriptor& index) {
  std::vector<KeyColumn> columns;
  std::vector<uint16_t> numbers;
  bool may_hold_nulls = false;
  for (size_t i = 0; i < index.columns.size(); ++i) {
    const IndexColumn& column = index.columns[i];
    if (const IndexExpression* expression = index.expression_of(i)) {
      columns.push_back(
          {&type_info(expression->type), true, column.descending, column.nulls_first});
      may_hold_nulls = true;
      numbers.push_back(KeyLayout::no_column);
      continue;
    }
    const ColumnDescriptor& of_table = table.columns[static_cast<size_t>(column.number) - 1];
    // The null marker is part of the encoding and must not change when NOT NULL comes or goes: only
    // a primary key, which lives in a tree of its own making, goes without.
    columns.push_back(
        {&type_info(of_table.type), !index.primary, column.descending, column.nulls_first});
    may_hold_nulls |= !of_table.not_null;
    numbers.push_back(static_cast<uint16_t>(column.number - 1));
  }
  KeyLayout key(std::move(columns), std::move(numbers), index.unique, !index.nulls_not_distinct,
                may_hold_nulls);
  key.set_suffix_bytes(suffix_bytes(table, index));
  return key;
}

void set_missing(ColumnDescriptor& column, Datum value) {
  column.has_missing = !value.null;
  column.missing = value;
  if (value.null || !type_info(column.type).by_reference) return;
  column.missing_bytes = std::make_shared<const std::string>(value.bytes());
  column.missing.ptr = column.missing_bytes->data();
}

namespace {

// Without an allocation: it is asked of every index, whatever is changed of a table.
bool is_complete(const TableDescriptor& table, const IndexDescriptor& index) {
  if (index.table_oid != table.oid) return false;
  if (index.primary && index.relation_id != table.relation_id) return false;
  if (index.key.columns().size() != index.columns.size()) return false;
  bool may_hold_nulls = false;
  for (size_t i = 0; i < index.columns.size(); ++i) {
    if (const IndexExpression* expression = index.expression_of(i)) {
      if (index.key.columns()[i].type->oid != expression->type) return false;
      may_hold_nulls = true;
      continue;
    }
    const ColumnDescriptor& column =
        table.columns[static_cast<size_t>(index.columns[i].number) - 1];
    if (index.key.columns()[i].type->oid != column.type) return false;
    // It may have been an expression.
    if (index.key.column_numbers()[i] + 1 != index.columns[i].number) return false;
    may_hold_nulls |= !column.not_null;
  }
  return index.key.may_hold_nulls() == may_hold_nulls &&
         index.key.suffix_bytes() == suffix_bytes(table, index);
}

std::shared_ptr<const IndexDescriptor> completed(const TableDescriptor& table,
                                                 std::shared_ptr<const IndexDescriptor> index) {
  if (is_complete(table, *index)) return index;
  auto complete = std::make_shared<IndexDescriptor>(*index);
  complete->table_oid = table.oid;
  complete->key = make_index_key(table, *complete);
  if (complete->primary) {
    complete->relation_id = table.relation_id;
    complete->relation = table.relation;
  }
  return complete;
}

// The primary key first, which the entries of the others lead to.
void complete_indexes(TableDescriptor& table,
                      std::vector<std::shared_ptr<const IndexDescriptor>>& indexes) {
  table.primary_key = KeyLayout();
  for (bool primary : {true, false}) {
    for (std::shared_ptr<const IndexDescriptor>& index : indexes) {
      if (index->primary != primary) continue;
      index = completed(table, std::move(index));
      if (primary) table.primary_key = index->key;
    }
  }
}

}  // namespace

void complete_descriptor(TableDescriptor& table,
                         std::vector<std::shared_ptr<const IndexDescriptor>> indexes,
                         const std::vector<uint8_t>& dropped_widths) {
  std::vector<RowColumn> columns;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    ColumnDescriptor& column = table.columns[i];
    RowColumn row_column;
    row_column.dropped = column.dropped;
    if (column.dropped) {
      PGSILO_REQUIRE(i < dropped_widths.size());
      row_column.width = dropped_widths[i];
    } else {
      row_column.type = &type_info(column.type);
      row_column.width = stored_width(*row_column.type);
      row_column.padded_length = padded_length(column.type, column.typmod);
      row_column.missing = column.missing;
    }
    columns.push_back(row_column);
  }
  table.layout = RowLayout(std::move(columns));
  complete_indexes(table, indexes);
  std::sort(indexes.begin(), indexes.end(),
            [](const auto& a, const auto& b) { return precedes(*a, *b); });
  table.indexes = std::move(indexes);
  std::sort(
      table.constraints.begin(), table.constraints.end(),
      [](const ConstraintDescriptor& a, const ConstraintDescriptor& b) { return a.oid < b.oid; });
  std::sort(table.referenced_by.begin(), table.referenced_by.end(),
            [](const IncomingReference& a, const IncomingReference& b) {
              return a.constraint < b.constraint;
            });
}

}  // namespace pgsilo
