// A WITH query in one Execution: its rows, kept as they are read.
// Thread safety: none; one Execution.
#pragma once

#include "executor/operator/operator.h"
#include "executor/operator/row_store.h"

namespace pgsilo {

class CteRun {
 public:
  CteRun(const CompiledCte& compiled, ExecutionState& state);
  // Null behind the last row.
  const Datum* row(size_t index);
  void reset();

 private:
  ExecutionState& state_;
  std::unique_ptr<Operator> plan_;
  RowStore rows_;
  bool opened_ = false;
  bool exhausted_ = false;
};

}  // namespace pgsilo
