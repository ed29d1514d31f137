// The seam between a running statement and whoever consumes its rows (the wire protocol, a test, a
// SQL function). Thread safety: called only by the fiber that runs the statement.
#pragma once

#include <span>

#include "sql/types/datum.h"

namespace pgsilo {

class ResultSink {
 public:
  virtual ~ResultSink() = default;
  // One result row; the number, types and names of its values are ExecutablePlan::result_columns().
  // By-reference values are valid only during the call. Called once per result row, never per inner
  // row of a plan.
  virtual void row(std::span<const Datum> values) = 0;
};

// For statements whose rows nobody wants.
class DiscardingResultSink final : public ResultSink {
 public:
  void row(std::span<const Datum>) override {}
};

}  // namespace pgsilo
