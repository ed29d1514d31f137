// ALTER VIEW, and ALTER TABLE of a view. Thread safety: one run.
#pragma once

namespace pgsilo {

class DdlRun;
struct TableDescriptor;
namespace ast {
struct AlterTableStmt;
}

// Its options; 42809 for what only tables have.
void alter_view(DdlRun& run, const TableDescriptor& view, const ast::AlterTableStmt& syntax);

}  // namespace pgsilo
