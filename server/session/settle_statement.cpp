// A prepared statement at the worker that its session has come to (docs/session_moves.md).
#include <algorithm>
#include <new>
#include <utility>

#include "executor/executable_plan.h"
#include "server/session/statement_runner.h"

namespace pgsilo {

// It means here what it meant, for its tree and its plan came along. But those are counted by who
// uses them, and sessions of the worker that it comes from use them too: each run would write what
// they write. So where a Parse of it would give the same now, it takes what Parse would.
void StatementRunner::settle(PreparedStatement& statement) {
  state_.apply_settings();
  bool would_be_same = statement.settings_number == state_.settings_number &&
                       statement.index < statement.text->plans.size() &&
                       (statement.plan == nullptr || statement.plan->cacheable()) &&
                       state_.services.plans.keeps(statement.text->syntax->text);
  try {
    if (would_be_same) take_from_here(statement);
  } catch (const std::bad_alloc&) {
    // It goes on with what it has.
  }
  statement.is_unsettled = false;
}

// A plan that is not valid any more is made anew as anywhere: by the types that its parameters got
// first, and with the locks of what it is told of.
void StatementRunner::take_from_here(PreparedStatement& statement) {
  std::shared_ptr<PreparedStatement> local = with_text(
      parse(statement.text->syntax->text, statement.declared_types, true), statement.index);
  if (statement.plan != nullptr) {
    state_.transactions.open();
    state_.refresh_catalog();
    if (statement.plan->still_valid(state_.transactions.catalog(), now_us())) {
      local->plan = find_or_make_plan(*local, true);
      if (!statement.is_described_by(*local->plan) ||
          !std::ranges::equal(local->plan->parameter_types(), statement.parameter_types))
        return;
      statement.plan = std::move(local->plan);
    }
  }
  statement.text = std::move(local->text);
  statement.node = local->node;
}

}  // namespace pgsilo
