// Errors of broken constraints, in PostgreSQL's words.
#include "executor/constraint/key_text.h"
#include "executor/constraint/table_writer.h"
#include "executor/execution_context.h"
#include "executor/transaction_status.h"
#include "sql/types/text.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

constexpr size_t longest_shown_value = 64;  // as PostgreSQL's ExecBuildSlotValueDescription

void print_value(const ColumnDescriptor& column, const Datum& value, const TypeContext& types,
                 ByteBuffer& out) {
  if (value.null) {
    out.append("null");
    return;
  }
  ByteBuffer text;
  type_info(column.type).print(value, text, types);
  std::string_view shown = text_clip(text.view(), longest_shown_value);
  out.append(shown);
  if (shown.size() != text.size()) out.append("...");
}

}  // namespace

std::string TableWriter::failing_row(std::span<const Datum> row) const {
  ByteBuffer text;
  text.append("Failing row contains (");
  bool first = true;
  for (size_t i = 0; i < table_.columns.size(); ++i) {
    if (table_.columns[i].dropped) continue;
    if (!first) text.append(", ");
    first = false;
    print_value(table_.columns[i], row[i], context_.types, text);
  }
  text.append(").");
  return std::string(text.view());
}

void TableWriter::check_not_null(std::span<const Datum> row,
                                 std::span<const int32_t> columns) const {
  for (int32_t index : columns) {
    auto at = static_cast<size_t>(index);
    if (!row[at].null) [[likely]]
      continue;
    const ColumnDescriptor& column = table_.columns[at];
    throw SqlError(sqlstate::not_null_violation,
                   concat("null value in column \"", column.name, "\" of relation \"", table_.name,
                          "\" violates not-null constraint"))
        .detail(failing_row(row))
        .table(table_.schema_name, table_.name)
        .column(column.name);
  }
}

void TableWriter::raise_check_violation(std::span<const Datum> row,
                                        std::string_view constraint) const {
  throw SqlError(sqlstate::check_violation,
                 concat("new row for relation \"", table_.name, "\" violates check constraint \"",
                        constraint, "\""))
      .detail(failing_row(row))
      .table(table_.schema_name, table_.name)
      .constraint(constraint);
}

void TableWriter::raise_not_visible(std::string_view view) {
  throw SqlError(sqlstate::object_not_in_prerequisite_state,
                 concat("conflicting row is not visible through view \"", view, "\""));
}

void TableWriter::raise_view_violation(std::span<const Datum> row, std::string_view view) const {
  throw SqlError(sqlstate::with_check_option_violation,
                 concat("new row violates check option for view \"", view, "\""))
      .detail(failing_row(row));
}

std::string TableWriter::shown_key(const IndexDescriptor& index, std::span<const Datum> row) const {
  if (index.computes()) {
    std::vector<Datum> key;
    keys_.of(index).evaluate(row, keys_.registers, *keys_.context, &key);
    std::string names = index_column_names(*context_.catalog, table_, index, context_.types);
    return concat("(", names, ")=(", key_values_text(index.key, key, context_.types), ")");
  }
  std::vector<int16_t> columns;
  columns.reserve(index.columns.size());
  for (const IndexColumn& part : index.columns) columns.push_back(part.number);
  return key_text(table_, columns, row, context_.types);
}

void TableWriter::raise_duplicate(const IndexDescriptor& index, std::span<const Datum> row) const {
  // The read that found the key has to be true before the client hears of it.
  TransactionStatus status = transaction().validate();
  if (status != TransactionStatus::ok) raise_transaction_status(status);
  throw SqlError(sqlstate::unique_violation,
                 concat("duplicate key value violates unique constraint \"", index.name, "\""))
      .detail(concat("Key ", shown_key(index, row), " already exists."))
      .table(table_.schema_name, table_.name)
      .constraint(index.name);
}

}  // namespace pgsilo
