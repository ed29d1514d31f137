// Extended statistics, for the commands that name objects of several kinds.
#pragma once

#include "executor/ddl/ddl_command.h"

namespace pgsilo {

// 42704: there are none of that name.
const StatisticsDescriptor& require_statistics(DdlRun& run, const ast::NameList& name);
void rename_statistics(DdlRun& run, const ast::RenameStmt& syntax);
void drop_statistics(DdlRun& run, const ast::DropStmt& syntax);
// SET STATISTICS, of a column too: the target, lowered with a warning to what there can be. 22023:
// below -1.
int32_t check_statistics_target(DdlRun& run, int32_t target);

}  // namespace pgsilo
