// Where a statement stands in its transaction, which some statements mind: what PostgreSQL's
// PreventInTransactionBlock() and its kin decide.
#pragma once

#include <cstdint>
#include <string_view>

#include "sql/sql_error.h"

namespace pgsilo {

class NoticeSink;

enum class StatementPlace : uint8_t {
  first,     // outside of a block; nothing of its transaction ran before it
  pipeline,  // behind others that no Sync has ended
  several,   // one of several of a Query message, which are one transaction
  block,     // behind BEGIN
};

// Throws 25001 unless it is the first: `VACUUM cannot run inside a transaction block`.
void refuse_in_block(StatementPlace place, std::string_view command);

// 25P01 `LOCK TABLE can only be used in transaction blocks`, of what makes no sense where the
// transaction ends with the statement.
SqlError outside_of_block(std::string_view command, Severity severity = Severity::error);
void require_block(StatementPlace place, std::string_view command);
void warn_outside_block(StatementPlace place, std::string_view command, NoticeSink& notices);

}  // namespace pgsilo
