// What a statement may do to other sessions, and ask about them.
#include <algorithm>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/parker.h"
#include "executor/execution_context.h"
#include "executor/functions/function.h"
#include "executor/server_monitor.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/types/array.h"

namespace pgsilo::functions {
namespace {

// A session that signals itself ends here.
Datum signalled(EvalContext& context, int32_t process, bool known) {
  ExecutionContext& session = *context.execution;
  if (!known) {
    session.notices->notice(
        SqlError(Severity::warning, sqlstate::warning,
                 concat("PID ", process, " is not a PostgreSQL backend process")));
  }
  session.check_budget();
  return Datum::of_bool(known);
}

Datum cancel_backend(EvalContext& context, const Datum* a) {
  auto process = static_cast<int32_t>(a[0].i64);
  return signalled(context, process, context.execution->monitor->cancel(process));
}

// pg_terminate_backend(pid, timeout in ms): with a timeout it waits until the session has gone.
Datum terminate_backend(EvalContext& context, const Datum* a) {
  constexpr int64_t poll_us = 10000;
  ExecutionContext& session = *context.execution;
  auto process = static_cast<int32_t>(a[0].i64);
  int64_t timeout_ms = a[1].i64;
  if (timeout_ms < 0)
    throw SqlError(sqlstate::numeric_value_out_of_range, "\"timeout\" must not be negative");
  bool known = session.monitor->terminate(process);
  if (!known || timeout_ms == 0) return signalled(context, process, known);
  session.check_budget();
  WaitScope waits(session.wait_report, WaitEvent::backend_termination);
  int64_t now_us = monotonic_us();
  int64_t longest_ms = (INT64_MAX - now_us) / 1000;
  int64_t deadline_us = now_us + std::min(timeout_ms, longest_ms) * 1000;
  while (session.monitor->has_session(process)) {
    if (now_us >= deadline_us) {
      session.notices->notice(
          SqlError(Severity::warning, sqlstate::warning,
                   concat("backend with PID ", process, " did not terminate within ", timeout_ms,
                          timeout_ms == 1 ? " millisecond" : " milliseconds")));
      return Datum::of_bool(false);
    }
    session.parker->park(std::min(now_us + poll_us, deadline_us));
    session.check_budget();
    now_us = monotonic_us();
  }
  return Datum::of_bool(true);
}

Datum blocking_pids(EvalContext& context, const Datum* a) {
  std::vector<Datum> processes;
  for (int32_t process : context.execution->monitor->blockers(static_cast<int32_t>(a[0].i64)))
    processes.push_back(Datum::of_int(process));
  return make_array(type_oid::int4, processes, *context.arena);
}

Datum reset_statistics(EvalContext& context, const Datum*) {
  context.execution->monitor->reset_statistics();
  return Datum::of_int(0);
}

// Of PostgreSQL's targets these two are counted here.
Datum reset_shared_statistics(EvalContext& context, const Datum* a) {
  std::string_view target = a[0].bytes();
  if (target == "wal") {
    context.execution->monitor->reset_log_statistics();
  } else if (target == "bgwriter") {
    context.execution->monitor->reset_checkpoint_statistics();
  } else if (target != "archiver" && target != "recovery_prefetch") {
    throw SqlError(sqlstate::invalid_parameter_value,
                   concat("unrecognized reset target: \"", target, "\""))
        .hint("Target must be \"archiver\", \"bgwriter\", \"recovery_prefetch\", or \"wal\".");
  }
  return Datum::of_int(0);
}

CheckpointStatistics checkpoints(const EvalContext& context) {
  return context.execution->monitor->checkpoint_statistics();
}

Datum timed_checkpoints(EvalContext& context, const Datum*) {
  return Datum::of_int(checkpoints(context).timed);
}

Datum requested_checkpoints(EvalContext& context, const Datum*) {
  return Datum::of_int(checkpoints(context).requested);
}

// PostgreSQL's measure, so that times block_size it is what was written.
Datum checkpoint_buffers(EvalContext& context, const Datum*) {
  return Datum::of_int(checkpoints(context).bytes / static_cast<int64_t>(limits::page_bytes));
}

Datum checkpoint_write_time(EvalContext& context, const Datum*) {
  return Datum::of_float(checkpoints(context).write_ms);
}

Datum checkpoint_sync_time(EvalContext& context, const Datum*) {
  return Datum::of_float(checkpoints(context).sync_ms);
}

Datum checkpoint_reset_time(EvalContext& context, const Datum*) {
  return Datum::of_int(checkpoints(context).reset_time);
}

// There is no cache of pages, whose buffers somebody could write or allocate.
Datum no_buffers(EvalContext&, const Datum*) { return Datum::of_int(0); }

constexpr FunctionEntry entries[] = {
    {2171, cancel_backend},
    {2096, terminate_backend},
    {2561, blocking_pids},
    {2274, reset_statistics},
    {3775, reset_shared_statistics},
    {2769, timed_checkpoints},
    {2770, requested_checkpoints},
    {2771, checkpoint_buffers},
    {2772, no_buffers},
    {2773, no_buffers},
    {2775, no_buffers},
    {2859, no_buffers},
    {3063, no_buffers},
    {3075, checkpoint_reset_time},
    {3160, checkpoint_write_time},
    {3161, checkpoint_sync_time},
};

}  // namespace

std::span<const FunctionEntry> monitoring() { return entries; }

}  // namespace pgsilo::functions
