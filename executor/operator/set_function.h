// Set-returning functions: generate_series over integers, numerics and timestamps, elements and
// subscripts of arrays, and what the server says of itself (monitor_functions.cpp).
// Thread safety: tables are constant; a series belongs to one operator.
#pragma once

#include <memory>

#include "executor/expression/eval_context.h"

namespace pgsilo {

class SetFunction {
 public:
  virtual ~SetFunction() = default;
  // Starts over with new arguments, none of them null if the procedure is strict; they live as long
  // as the series.
  virtual void start(RowContext& context, const Datum* arguments) = 0;
  // False at the end. `values` takes one value, or as many as row_columns() names. By-reference
  // values live until the next call.
  virtual bool next(RowContext& context, Datum* values) = 0;
  // No more is wanted before the next start(): gives up what others may use, and views of the
  // arguments.
  virtual void close() {}
};

// Null when the procedure is not a set-returning function.
std::unique_ptr<SetFunction> make_set_function(Oid procedure);
// Those of regular expressions; null for all others.
std::unique_ptr<SetFunction> make_pattern_function(Oid procedure);
// Those over the server's own state; null for all others.
std::unique_ptr<SetFunction> make_monitor_function(Oid procedure);

}  // namespace pgsilo
