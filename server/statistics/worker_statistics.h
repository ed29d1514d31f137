// What the sessions of one worker have done, counted where it happens and summed up when somebody
// asks. Thread safety: the worker adds; anybody reads.
#pragma once

#include "base/counter.h"
#include "executor/server_monitor.h"
#include "executor/spill/temporary_files.h"
#include "server/statistics/statement_table.h"

namespace pgsilo {

struct alignas(64) WorkerStatistics {
  Counter commits;
  Counter rollbacks;
  Counter rows_inserted;
  Counter rows_updated;
  Counter rows_deleted;
  Counter deadlocks;
  Counter sessions;
  Counter sessions_abandoned;
  Counter sessions_fatal;
  Counter sessions_killed;
  TemporaryFiles::Counters temporary_files;
  StatementTable statements;

  void add_to(DatabaseStatistics& sum) const {
    sum.commits += commits.value();
    sum.rollbacks += rollbacks.value();
    sum.rows_inserted += rows_inserted.value();
    sum.rows_updated += rows_updated.value();
    sum.rows_deleted += rows_deleted.value();
    sum.deadlocks += deadlocks.value();
    sum.sessions += sessions.value();
    sum.sessions_abandoned += sessions_abandoned.value();
    sum.sessions_fatal += sessions_fatal.value();
    sum.sessions_killed += sessions_killed.value();
    sum.temporary_files += temporary_files.files.value();
    sum.temporary_bytes += temporary_files.bytes.value();
  }
};

}  // namespace pgsilo
