// SAVEPOINT, RELEASE and ROLLBACK TO.
#include "base/long_work.h"
#include "base/memory_budget.h"
#include "executor/statement_place.h"
#include "executor/transaction_status.h"
#include "server/limits.h"
#include "server/session/transaction_control.h"
#include "sql/sql_error.h"

namespace pgsilo {

void TransactionControl::require_block(std::string_view command) const {
  if (in_block()) return;
  throw outside_of_block(command);
}

size_t TransactionControl::find_savepoint(std::string_view name) const {
  for (size_t i = savepoints_.size(); i > 0; --i) {
    if (savepoints_[i - 1].name == name) return i - 1;
  }
  throw SqlError(sqlstate::invalid_savepoint_specification,
                 concat("savepoint \"", name, "\" does not exist"));
}

std::string_view TransactionControl::set_savepoint(std::string_view name) {
  require_block("SAVEPOINT");
  open_storage();
  if (savepoints_.size() >= limits::free_savepoints) require_room(limits::savepoint_bytes);
  require_ok_status(transaction_.settle());
  savepoints_.push_back({std::string(name),
                         {},
                         advisory_locks_.mark(),
                         catalog_.mark(),
                         settings_.mark(),
                         context_.references->mark(),
                         observer_.savepoint_set()});
  savepoints_.back().storage = transaction_.mark();  // last: nothing fails behind it
  settings_.set_in_savepoint(true);
  return "SAVEPOINT";
}

// But the `keep` oldest.
void TransactionControl::drop_savepoints(size_t keep) {
  for (; savepoints_.size() > keep; savepoints_.pop_back())
    did_needed_work(limits::savepoint_bytes);
}

std::string_view TransactionControl::release_savepoint(std::string_view name) {
  require_block("RELEASE SAVEPOINT");
  size_t at = find_savepoint(name);
  transaction_.release(savepoints_[at].storage);
  settings_.restore_modes(savepoints_[at].settings);
  for (size_t i = savepoints_.size(); i > at; --i)
    settings_.release(savepoints_[i - 1].settings, i > 1 ? &savepoints_[i - 2].settings : nullptr);
  drop_savepoints(at);
  settings_.set_in_savepoint(!savepoints_.empty());
  return "RELEASE";
}

// The savepoint itself stays.
std::string_view TransactionControl::rollback_to_savepoint(std::string_view name) {
  require_block("ROLLBACK TO SAVEPOINT");
  size_t at = find_savepoint(name);
  drop_savepoints(at + 1);
  observer_.before_rollback_to(savepoints_.back().observed);
  unwind_to_newest();
  state_ = State::block;
  return "ROLLBACK";
}

TransactionControl::StatementMark TransactionControl::mark_statement() {
  require_ok_status(transaction_.settle());
  return {transaction_.mark_statement(), catalog_.mark()};
}

void TransactionControl::unwind_statement(const StatementMark& mark) {
  transaction_.rollback_to(mark.storage);
  catalog_.rollback_to(mark.catalog);
}

void TransactionControl::unwind_to_newest() {
  const Savepoint& savepoint = savepoints_.back();
  transaction_.rollback_to(savepoint.storage);
  transaction_.forget_since(savepoint.storage);
  advisory_locks_.rollback_to(savepoint.locks);
  advisory_locks_.settle();
  awaited_.keep();
  catalog_.rollback_to(savepoint.catalog);
  context_.references->rollback_to(savepoint.references);
  settings_.rollback_to(savepoint.settings);
}

}  // namespace pgsilo
