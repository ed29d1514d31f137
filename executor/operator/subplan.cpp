#include "executor/operator/subplan.h"

#include "base/asking_allocator.h"
#include "executor/expression/steps.h"
#include "sql/sql_error.h"
#include "sql/types/array.h"

namespace pgsilo {

namespace steps {
const Step* subplan(const Step* step, Datum* registers, RowContext& context) {
  registers[step->result] = context.state->subplan(static_cast<uint32_t>(step->c)).evaluate();
  return step + 1;
}
}  // namespace steps

SubplanRun::SubplanRun(const CompiledSubplan& compiled, ExecutionState& state)
    : compiled_(compiled),
      state_(state),
      plan_(compiled.plan->instantiate(state)),
      table_(key_types_) {
  if (compiled.hashed) key_types_.types.push_back(compiled.key_type);
}

void SubplanRun::reset() {
  plan_->close();
  table_.clear();
  known_ = false;
}

Datum SubplanRun::evaluate() {
  // The operators of the subquery use memory of their own.
  Arena* arena = state_.rows.arena;
  if (compiled_.hashed) {
    if (!known_) build();
    state_.rows.use_arena(*arena);
    return probe();
  }
  // ANY and ALL compare with the outer row, so their outcome is never known before.
  bool once = compiled_.run_once && compiled_.kind != SubplanKind::any &&
              compiled_.kind != SubplanKind::all;
  if (once && known_) return value_;
  plan_->open();
  Datum value = run(once ? state_.memory : *arena);
  state_.rows.use_arena(*arena);
  if (once) {
    value_ = value;
    known_ = true;
  }
  return value;
}

Datum SubplanRun::run(Arena& results) {
  switch (compiled_.kind) {
    case SubplanKind::exists:
      return Datum::of_bool(plan_->next());
    case SubplanKind::scalar:
      return scalar(results);
    case SubplanKind::any:
    case SubplanKind::all:
      return any_or_all();
    case SubplanKind::array:
      return array(results);
  }
  __builtin_unreachable();
}

Datum SubplanRun::scalar(Arena& results) {
  if (!plan_->next()) return Datum();
  Datum value =
      copy_datum(state_.registers[compiled_.plan->output[0]], *compiled_.result_type, results);
  if (plan_->next()) {
    throw SqlError(sqlstate::cardinality_violation,
                   "more than one row returned by a subquery used as an expression");
  }
  return value;
}

Datum SubplanRun::any_or_all() {
  bool decides = compiled_.kind == SubplanKind::any;
  bool seen_null = false;
  Arena scratch;
  while (plan_->next()) {
    state_.session.maybe_yield();
    for (size_t i = 0; i < compiled_.row_parameters.size(); ++i) {
      state_.registers[compiled_.row_parameters[i]] = state_.registers[compiled_.plan->output[i]];
    }
    if (scratch.bytes_reserved() != 0) scratch.reset();
    state_.rows.use_arena(scratch);
    Datum outcome = compiled_.condition.evaluate(state_.registers.data(), state_.rows);
    if (outcome.null) {
      seen_null = true;
    } else if (outcome.as_bool() == decides) {
      return Datum::of_bool(decides);
    }
  }
  return seen_null ? Datum() : Datum::of_bool(!decides);
}

Datum SubplanRun::array(Arena& results) {
  Arena kept(ArenaLimit::memory_limit);
  AskingVector<Datum> values;
  while (plan_->next()) {
    state_.session.maybe_yield();
    values.push_back(
        copy_datum(state_.registers[compiled_.plan->output[0]], *compiled_.result_type, kept));
  }
  return make_array(compiled_.result_type->oid, values, results);
}

void SubplanRun::build() {
  table_has_null_ = table_has_rows_ = false;
  plan_->open();
  while (plan_->next()) {
    state_.session.maybe_yield();
    table_has_rows_ = true;
    Datum key = state_.registers[compiled_.plan->output[0]];
    if (key.null) {
      table_has_null_ = true;
      continue;
    }
    uint64_t hash = key_types_.hash(&key);
    if (table_.find(&key, hash) != nullptr) continue;
    *table_.add(hash, 1)->values() = copy_datum(key, *compiled_.key_type, table_.arena());
  }
  known_ = true;
}

Datum SubplanRun::probe() {
  if (!table_has_rows_) return Datum::of_bool(false);
  const Datum& key = state_.registers[compiled_.hash_key];
  if (key.null) return Datum();
  if (table_.find(&key, key_types_.hash(&key)) != nullptr) return Datum::of_bool(true);
  return table_has_null_ ? Datum() : Datum::of_bool(false);
}

}  // namespace pgsilo
