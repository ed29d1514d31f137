// Storage parameters: WITH (fillfactor = 90) and SET, RESET of it, kept as reloptions. They have no
// effect but that they are shown. Thread safety: pure functions of the run they are given.
#pragma once

#include <string>
#include <vector>

#include "executor/ddl/ddl_command.h"

namespace pgsilo {

enum class StorageOptionsOf : uint8_t { table, index };

// As reloptions have it: "true" where none is written.
std::string option_value(const ast::DefElem& option);
// As reloptions; throws 22023 for what PostgreSQL does not know or take.
std::vector<std::string> define_options(DdlRun& run, ast::List<ast::DefElem> options,
                                        StorageOptionsOf of);
// What an ALTER with them makes of `before`: those named anew come last.
std::vector<std::string> set_options(DdlRun& run, std::vector<std::string> before,
                                     ast::List<ast::DefElem> options, StorageOptionsOf of);
// Throws 42601 for values. What is not set, or not known, is passed over.
std::vector<std::string> reset_options(std::vector<std::string> before,
                                       ast::List<ast::DefElem> options);

}  // namespace pgsilo
