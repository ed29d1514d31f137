// The options of CREATE and ALTER SEQUENCE and of identity columns out of the syntax tree.
// Thread safety: pure functions of the run they are given.
#pragma once

#include "executor/ddl/ddl_command.h"

namespace pgsilo {

struct SequenceClauses {
  SequenceOptions options;
  SequenceOwner owner;
  IdentityKind identity = IdentityKind::none;  // SET GENERATED
  std::string name;                            // SEQUENCE NAME of an identity column
};

// Throws what PostgreSQL throws for options given twice, numbers that are none, and owners that
// cannot be.
SequenceClauses read_sequence_options(DdlRun& run, ast::List<ast::DefElem> options);

}  // namespace pgsilo
