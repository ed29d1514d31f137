// A WITH query in one Execution: its rows, kept as they are read.
// Thread safety: none; one Execution.
#pragma once

#include "executor/operator/operator.h"
#include "executor/spill/stored_rows.h"

namespace pgsilo {

class CteRun {
 public:
  CteRun(const CompiledCte& compiled, ExecutionState& state);
  // The reader's next row; null behind the last one.
  const Datum* next(StoredRows::Reader& reader);
  void reset();

 private:
  ExecutionState& state_;
  std::unique_ptr<Operator> plan_;
  StoredRows rows_;
  bool opened_ = false;
  bool exhausted_ = false;
};

}  // namespace pgsilo
