#include "executor/operator/index_key.h"

#include "sql/types/type.h"

namespace pgsilo {

CompiledKeyValue CompiledKeyValue::compile(const KeyValue& key, const TypeInfo& column_type,
                                           PlanCompiler& plan) {
  CompiledKeyValue made;
  made.is_null = key.is_null;
  if (key.value != nullptr) made.value = plan.expression(key.value, {});
  if (key.conversion == KeyConversion::narrow_integer) {
    made.integer_width = static_cast<uint8_t>(column_type.typlen);
  }
  return made;
}

KeyFit CompiledKeyValue::fit(Datum value) const {
  if (value.null) return KeyFit::null;
  if (integer_width != 0 && integer_width < 8) {
    int64_t limit = int64_t{1} << (8 * integer_width - 1);
    if (value.i64 >= limit) return KeyFit::above;
    if (value.i64 < -limit) return KeyFit::below;
  }
  return KeyFit::fits;
}

KeyFit CompiledKeyValue::evaluate(ExecutionState& state, Datum* value) const {
  if (is_null) {
    *value = Datum();
    return KeyFit::fits;
  }
  *value = this->value.evaluate(state.registers.data(), state.rows);
  return fit(*value);
}

}  // namespace pgsilo
