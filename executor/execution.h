// One run of an ExecutablePlan inside an open storage transaction.
//
//   Execution execution(plan, context, parameters);
//   while (execution.run(sink, row_limit) == RunStatus::suspended) { ... }   // a portal's next
//   Execute tag = execution.command_tag();
//
// The first run() begins the statement (command id) in the transaction, the one that returns done
// ends it. When run() throws, or the Execution is destroyed before it is done, the statement's
// effects are left in the transaction: the session rolls the transaction (or its savepoint) back,
// or re-runs it when the error is a TransactionConflict (executor/transaction_status.h). An
// Execution may be rewound with restart(): its memory is kept, so running a prepared statement
// again and again allocates nothing. Thread safety: none; it belongs to the session's fiber.
// `plan`, `context` and whatever the parameters point at must outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sql/types/datum.h"

namespace pgsilo {

class ExecutablePlan;
class ResultSink;
struct ExecutionContext;
struct ExecutionRun;
struct ReferenceQueue;

enum class RunStatus : uint8_t { done, suspended };

class Execution {
 public:
  Execution(std::shared_ptr<const ExecutablePlan> plan, ExecutionContext& context,
            std::span<const Datum> parameters);
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  static constexpr uint64_t no_row_limit = 0;

  // Delivers up to `row_limit` rows (0: all) to `sink`. `suspended` means the limit was reached,
  // also by the last row; statements that write run to their end on the first call whatever the
  // limit and buffer the rows of RETURNING. Throws SqlError.
  RunStatus run(ResultSink& sink, uint64_t row_limit = no_row_limit);

  // Begins the statement: what later ones of the transaction change it will not see. The first
  // run() does it otherwise.
  void begin();

  // A foreign key's action: runs the whole statement, or up to `row_limit` rows of it, as a part of
  // the running one, which settles what it leaves, also when it throws.
  void run_nested(ResultSink& sink, uint64_t row_limit);
  // Null: nothing.
  std::unique_ptr<ReferenceQueue> take_reference_events();

  // Begins a new run of the same plan with new parameters, in whatever transaction the context now
  // holds.
  void restart(std::span<const Datum> parameters);

  // "SELECT 3", "INSERT 0 1", "CREATE TABLE" ...; counts the rows of the last run() only, as
  // PostgreSQL's portals do. Valid until the next run.
  std::string_view command_tag();

  // Rows returned by the last run(); of a statement that returns none, affected.
  uint64_t rows_processed() const;
  // Rows that the last run() has inserted, updated or deleted.
  uint64_t rows_changed() const;

 private:
  std::unique_ptr<ExecutionRun> run_;
};

}  // namespace pgsilo
