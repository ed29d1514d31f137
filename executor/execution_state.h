// Everything one Execution owns while it runs. Internal to executor/.
// Thread safety: none; one fiber.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/arena.h"
#include "executor/compiled_statement.h"
#include "executor/expression/eval_context.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

class ExecutablePlan;
class CteRun;
enum class TableUse : uint8_t;
class Operator;
class ReadBuffer;
class Scratch;
class SubplanRun;
class WorkTable;
struct ReferenceQueue;
struct TableDescriptor;

struct ExecutionState {
  ExecutionState(std::shared_ptr<const ExecutablePlan> plan, ExecutionContext& session);
  ~ExecutionState();

  Transaction& transaction() { return *session.transaction; }
  // Raises the error that a status other than ok stands for.
  void check(TransactionStatus status) {
    if (status != TransactionStatus::ok) [[unlikely]]
      raise(status);
  }
  [[noreturn]] static void raise(TransactionStatus status);

  // Instantiated when first used.
  SubplanRun& subplan(uint32_t index);
  CteRun& cte(int32_t index);

  // A new run: parameters in place, memory empty.
  void start(std::span<const Datum> parameters);
  // The command id, and the descriptors that the transaction now rests on.
  void begin_statement();
  // Whether it reads, and what it inserts could not be unwound if its reads were beaten.
  bool inserts_for_good();
  // The transaction rests on this table's descriptor, and has what lock `use` needs.
  void use_table(const TableDescriptor& table, TableUse use);
  // Lets go of everything that needs the transaction, and of memory beyond the ordinary.
  void close();

  std::shared_ptr<const ExecutablePlan> plan;
  const CompiledStatement& compiled;
  ExecutionContext& session;
  RowContext rows;
  std::vector<Datum> registers;
  // Emptied at the start of each run. A change remembers rows in it.
  Arena memory{ArenaLimit::reserve};
  Scratch* scratches = nullptr;         // all of the operators'; they live as long as these
  ReadBuffer* read_buffers = nullptr;   // likewise
  std::vector<WorkTable*> work_tables;  // of WITH RECURSIVE, by number; the operators'
  std::unique_ptr<Operator> root;
  std::vector<std::unique_ptr<SubplanRun>> subplans;
  std::vector<std::unique_ptr<CteRun>> ctes;

  std::unique_ptr<ReferenceQueue> reference_events;  // to be settled at its end; null: none yet

  bool nested = false;   // it is an action of a foreign key (Execution::run_nested)
  bool started = false;  // begin_statement() was called
  bool finished = false;
  bool ran_no_query = false;  // CREATE TABLE AS that only made the table, or nothing
  CommandId command = 0;
  uint64_t rows_processed = 0;  // of the last run() call, or changed by the statement
};

}  // namespace pgsilo
