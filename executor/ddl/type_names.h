// Types by the names that statements about them give. Thread safety: as DdlRun.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "executor/ddl/ddl_command.h"

namespace pgsilo {

// "s.t", as it was written.
std::string written_type_name(const ast::NameList& name);
// "db.schema.name" as a relation's name is written.
ast::RangeVar relation_name(std::span<const std::string_view> words);
DataDefinition::ObjectName object_name(DdlRun& run, const ast::NameList& name);
// Null: a built-in type, or a table's row type. Throws 42704 where there is none, 3F000 where there
// is no such schema.
const TypeDescriptor* find_type_descriptor(DdlRun& run, const ast::NameList& name);
// Of a type that there is: as format_type() shows it, a table's row type as it was written.
std::string found_type_name(DdlRun& run, const ast::NameList& name);
// As find_type_descriptor(); 42809 `"t" is not a domain`.
const TypeDescriptor& require_domain(DdlRun& run, const ast::NameList& name);
// The same, where PostgreSQL says `t is not a domain`.
const TypeDescriptor& domain_to_alter(DdlRun& run, const ast::NameList& name);
// ALTER TYPE ... RENAME TO.
void rename_type(DdlRun& run, const ast::RenameStmt& syntax);

}  // namespace pgsilo
