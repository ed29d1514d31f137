// FOREIGN KEY in CREATE and ALTER TABLE. Thread safety: of the run they are given.
#pragma once

#include <string_view>

#include "executor/ddl/ddl_command.h"

namespace pgsilo {

// A table's constraint, or (with `column`) a column's. Checks the rows that are there unless the
// constraint is NOT VALID; `is_new`: there are none.
void add_foreign_key(DdlRun& run, Oid table, const ast::Constraint& syntax,
                     std::string_view column = {}, bool is_new = false);
// 55006 if rows of the table that the constraint refers to wait for a deferred check.
void refuse_pending_references(DdlRun& run, Oid table, std::string_view constraint);
// A column has another type, and other values: do the rows still have what they refer to?
void check_foreign_keys_of(DdlRun& run, Oid table, int16_t column);
// ALTER TABLE ... VALIDATE CONSTRAINT, while others change the table.
void validate_constraint(DdlRun& run, Oid table, std::string_view name);
// ALTER TABLE ... ALTER CONSTRAINT name [NOT] DEFERRABLE ...
void alter_constraint(DdlRun& run, Oid table, const ast::Constraint& syntax);

}  // namespace pgsilo
