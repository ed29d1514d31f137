// Key values of index lookups: evaluated, fitted to the key column's type, encoded.
// Thread safety: immutable; evaluation works on one Execution.
#pragma once

#include "executor/execution_state.h"
#include "executor/plan_compiler.h"
#include "planner/plan/plan_node.h"

namespace pgsilo {

class KeyLayout;

enum class KeyFit : uint8_t {
  fits,
  null,   // compares with nothing
  below,  // less than every value of the column
  above,  // greater
};

struct CompiledKeyValue {
  ExpressionProgram value;
  bool is_null = false;       // IS NULL
  uint8_t integer_width = 0;  // of the column, where the value is wider; else 0

  static CompiledKeyValue compile(const KeyValue& key, const TypeInfo& column_type,
                                  PlanCompiler& plan);
  KeyFit evaluate(ExecutionState& state, Datum* value) const;
  // What a wider integer is to a column of integer_width bytes.
  KeyFit fit(Datum value) const;
};

}  // namespace pgsilo
