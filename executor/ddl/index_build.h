// CREATE INDEX beside readers and writers (docs/index_build.md): in transactions of its own, the
// statement's being nothing but their frame. Thread safety: of the run it is given.
#pragma once

#include "executor/ddl/ddl_command.h"

namespace pgsilo {

// ExecutionContext::is_alone. Returns when the index is there for everybody; whatever it throws,
// nothing of it is left.
void build_index_beside_writers(DdlRun& run, Oid table, const IndexDefinition& definition,
                                bool if_not_exists);

}  // namespace pgsilo
