// COPY FROM STDIN and COPY TO STDOUT.
// Thread safety: immutable.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "executor/utility_command.h"
#include "sql/ast/utility.h"

namespace pgsilo {

struct TableDescriptor;

std::unique_ptr<const UtilityCommand> make_copy(
    const std::shared_ptr<const PlannedStatement>& planned);

std::unique_ptr<const UtilityCommand> make_copy_from(
    const std::shared_ptr<const PlannedStatement>& planned);
std::unique_ptr<const UtilityCommand> make_copy_to(
    const std::shared_ptr<const PlannedStatement>& planned);

// The table's columns that a list names (all of them when it is empty), as indexes. 42703, 42701.
std::vector<size_t> copy_columns(const TableDescriptor& table, ast::NameList names);
// Which of `columns` an option's list names. 42703, and 42P10 for one that is not copied.
std::vector<bool> copy_option_columns(const TableDescriptor& table,
                                      const std::vector<size_t>& columns,
                                      const std::vector<std::string>& names,
                                      std::string_view option);

}  // namespace pgsilo
