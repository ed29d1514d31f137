// Set-returning functions: generate_series over integers, numerics and timestamps.
// Thread safety: tables are constant; a series belongs to one operator.
#pragma once

#include <memory>

#include "executor/expression/eval_context.h"

namespace pgsilo {

class SetFunction {
 public:
  virtual ~SetFunction() = default;
  // Starts over with new arguments, none of them null; they live as long as the series.
  virtual void start(RowContext& context, const Datum* arguments) = 0;
  // False at the end. By-reference values live until the next call.
  virtual bool next(RowContext& context, Datum* value) = 0;
};

// Null when the procedure is not a set-returning function.
std::unique_ptr<SetFunction> make_set_function(Oid procedure);

}  // namespace pgsilo
