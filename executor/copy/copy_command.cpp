#include "executor/copy/copy_command.h"

#include <algorithm>

#include "catalog/descriptors.h"
#include "planner/plan/transaction_plan.h"
#include "sql/sql_error.h"

namespace pgsilo {

std::unique_ptr<const UtilityCommand> make_copy(
    const std::shared_ptr<const PlannedStatement>& planned) {
  const auto& syntax = *ast::as<ast::CopyStmt>(planned->syntax);
  if (syntax.is_program) throw_unsupported("COPY with a program");
  if (!syntax.filename.empty()) throw_unsupported("COPY with a file of the server");
  return syntax.is_from ? make_copy_from(planned) : make_copy_to(planned);
}

namespace {
size_t column_index(const TableDescriptor& table, std::string_view name) {
  if (const ColumnDescriptor* column = table.find_column(name)) {
    if (column->generated) {
      throw SqlError(sqlstate::invalid_column_reference,
                     concat("column \"", name, "\" is a generated column"))
          .detail("Generated columns cannot be used in COPY.");
    }
    return static_cast<size_t>(column->number - 1);
  }
  throw SqlError(sqlstate::undefined_column,
                 concat("column \"", name, "\" of relation \"", table.name, "\" does not exist"));
}
}  // namespace

std::vector<size_t> copy_columns(const TableDescriptor& table, ast::NameList names) {
  std::vector<size_t> columns;
  if (names.empty()) {
    for (size_t i = 0; i < table.columns.size(); ++i) {
      if (!table.columns[i].dropped && !table.columns[i].generated) columns.push_back(i);
    }
    return columns;
  }
  for (std::string_view name : names) {
    size_t index = column_index(table, name);
    if (std::find(columns.begin(), columns.end(), index) != columns.end()) {
      throw SqlError(sqlstate::duplicate_column,
                     concat("column \"", name, "\" specified more than once"));
    }
    columns.push_back(index);
  }
  return columns;
}

std::vector<bool> copy_option_columns(const TableDescriptor& table,
                                      const std::vector<size_t>& columns,
                                      const std::vector<std::string>& names,
                                      std::string_view option) {
  std::vector<bool> chosen(columns.size());
  for (const std::string& name : names) {
    auto found = std::find(columns.begin(), columns.end(), column_index(table, name));
    if (found == columns.end()) {
      throw SqlError(sqlstate::invalid_column_reference,
                     concat(option, " column \"", name, "\" not referenced by COPY"));
    }
    chosen[static_cast<size_t>(found - columns.begin())] = true;
  }
  return chosen;
}

}  // namespace pgsilo
