// ALTER TABLE ... ALTER COLUMN ... TYPE. Thread safety: of the run it is given.
#pragma once

#include "executor/ddl/ddl_command.h"

namespace pgsilo {

// Converts the column of each row, its default, and the CHECK constraints that use it. These keep
// their meaning as PostgreSQL keeps it: their texts are written anew with the types that they had,
// then read with the new one. Throws 42804 for what cannot be converted, 23514 for a row that does
// not satisfy a constraint any more, and what the expressions throw.
void alter_column_type(DdlRun& run, Oid table, const ast::AlterTableCommand& command);

}  // namespace pgsilo
