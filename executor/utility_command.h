// Statements without a plan: DDL, COPY, EXPLAIN, VACUUM. One class per statement, made by
// compile(). Thread safety: immutable.
#pragma once

#include <memory>
#include <string_view>

#include "executor/executable_plan.h"

namespace pgsilo {

class ResultSink;
struct ExecutionState;
struct PlannedStatement;

class UtilityCommand {
 public:
  virtual ~UtilityCommand() = default;
  // Runs to the end. Rows it makes go to `sink`; it sets state.rows_processed if its tag counts.
  virtual void run(ExecutionState& state, ResultSink& sink) const = 0;

  virtual StatementKind kind() const = 0;
  // The command tag's words.
  virtual std::string_view tag() const = 0;
  // As errors name it.
  virtual std::string_view command_name() const { return tag(); }
  virtual bool tag_counts_rows() const { return false; }
  virtual bool read_only() const { return false; }
  // ExecutablePlan::only_reads()
  virtual bool only_reads() const { return false; }
};

// Throws 0A000 for statements the executor does not run.
std::unique_ptr<const UtilityCommand> make_utility_command(
    const std::shared_ptr<const PlannedStatement>& planned);

}  // namespace pgsilo
