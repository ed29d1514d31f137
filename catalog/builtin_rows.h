// The rows of an empty database: the catalog's own tables, the built-in types and procedures, the
// first schemas, roles and databases. Thread safety: a function without state.
#pragma once

#include <functional>
#include <string_view>

#include "catalog/system_row.h"

namespace pgsilo {

// The only role there is.
inline constexpr std::string_view bootstrap_role_name = "postgres";

// Whose word on a row is the last.
enum class RowOrigin {
  program,  // it says what this program can do, in every database
  seed,     // the database's own since the database was made: users may change and drop it
};

// A row and what it points at live until the call returns.
using BuiltinRowVisitor = std::function<void(const SystemRow& row, RowOrigin origin)>;

void visit_builtin_rows(const SystemTables& tables, const BuiltinRowVisitor& visit);

}  // namespace pgsilo
