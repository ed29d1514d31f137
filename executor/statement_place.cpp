#include "executor/statement_place.h"

#include "executor/execution_context.h"

namespace pgsilo {

namespace {

bool is_like_a_block(StatementPlace place) { return place >= StatementPlace::several; }

}  // namespace

void refuse_in_block(StatementPlace place, std::string_view command) {
  if (place == StatementPlace::first) return;
  throw SqlError(sqlstate::active_sql_transaction,
                 concat(command, is_like_a_block(place) ? " cannot run inside a transaction block"
                                                        : " cannot be executed within a pipeline"));
}

SqlError outside_of_block(std::string_view command, Severity severity) {
  return {severity, sqlstate::no_active_sql_transaction,
          concat(command, " can only be used in transaction blocks")};
}

void require_block(StatementPlace place, std::string_view command) {
  if (!is_like_a_block(place)) throw outside_of_block(command);
}

void warn_outside_block(StatementPlace place, std::string_view command, NoticeSink& notices) {
  if (!is_like_a_block(place)) notices.notice(outside_of_block(command, Severity::warning));
}

}  // namespace pgsilo
