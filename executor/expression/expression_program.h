// Expressions as flat code. A program is a row of steps; each step reads and writes Datum registers
// and returns the step that runs next, so that AND, OR, CASE and COALESCE are jumps and nothing
// recurses. All programs of a statement share one register file: constants and parameters are
// registers that never change, an operator's output columns are registers that its child's
// expressions wrote, so passing a row from operator to operator copies nothing.
// Thread safety: immutable after compilation; registers belong to one Execution.
#pragma once

#include <cstdint>
#include <span>

#include "executor/expression/eval_context.h"

namespace pgsilo {

using Register = uint32_t;

struct Step {
  // Returns the next step: `step + 1`, or a jump's target.
  using Run = const Step* (*)(const Step* step, Datum* registers, RowContext& context);
  Run run = nullptr;
  Register result = 0;
  Register a = 0;
  Register b = 0;
  int32_t c = 0;               // a third register, a count, or a jump's distance in steps
  const void* data = nullptr;  // what else this kind of step needs
};

struct ExpressionProgram {
  std::span<const Step> steps;
  Register result = 0;

  // False for a program that only names a register.
  bool computes() const { return !steps.empty(); }

  const Datum& evaluate(Datum* registers, RowContext& context) const {
    const Step* step = steps.data();
    const Step* end = step + steps.size();
    while (step != end) step = step->run(step, registers, context);
    return registers[result];
  }
  bool is_true(Datum* registers, RowContext& context) const {
    const Datum& value = evaluate(registers, context);
    return !value.null && value.i64 != 0;
  }
};

}  // namespace pgsilo
