#include "server/session/wal_backup.h"

#include "base/clock.h"
#include "base/parker.h"
#include "executor/wait_report.h"
#include "sql/sql_error.h"

namespace pgsilo {
namespace {

// Nobody tells that D has moved so far.
constexpr int64_t poll_us = 5000;

}  // namespace

uint64_t WalBackup::start(std::string_view label) {
  if (in_progress_) {
    throw SqlError(sqlstate::object_not_in_prerequisite_state,
                   "a backup is already in progress in this session");
  }
  if (label.size() > Backup::longest_label) {
    throw SqlError(sqlstate::invalid_parameter_value,
                   concat("backup label too long (max ", Backup::longest_label, " bytes)"));
  }
  backup_.reset();
  backup_.emplace(checkpointer_, std::string(label));
  in_progress_ = true;
  return backup_->start().value();
}

SessionBackup::End WalBackup::stop() {
  if (!in_progress_) {
    throw SqlError(sqlstate::object_not_in_prerequisite_state, "backup is not in progress")
        .hint("Did you call pg_backup_start()?");
  }
  WaitScope waits(context_.wait_report, WaitEvent::log_sync);
  backup_->ask_stop();
  while (!backup_->stopped()) {
    context_.parker->park(monotonic_us() + poll_us);
    context_.check_budget();
  }
  in_progress_ = false;
  if (backup_->given_up()) {
    backup_.reset();
    throw SqlError(sqlstate::object_not_in_prerequisite_state,
                   "the backup was given up: the log segments that it kept were needed for space")
        .hint("Make room for the log, and begin the backup anew.");
  }
  context_.notices->notice(
      SqlError(Severity::notice, sqlstate::successful_completion,
               "WAL archiving is not enabled; you must ensure that all required WAL segments are "
               "copied through other means to complete the backup")
          .hint("They stay until the session ends."));
  return {backup_->stop().value(), backup_->label_file()};
}

}  // namespace pgsilo
