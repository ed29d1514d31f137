#include "executor/operator/subplan.h"

#include <algorithm>

#include "base/asking_allocator.h"
#include "executor/expression/steps.h"
#include "sql/sql_error.h"
#include "sql/types/array_parts.h"

namespace pgsilo {

namespace steps {
const Step* subplan(const Step* step, Datum* registers, RowContext& context) {
  registers[step->result] = context.state->subplan(static_cast<uint32_t>(step->c)).evaluate();
  return step + 1;
}

const Step* jump_if_subplan_empty(const Step* step, Datum* registers, RowContext& context) {
  if (context.state->subplan(step->a).has_keys()) return step + 1;
  registers[step->result] = Datum::of_bool(false);
  return step + step->c;
}
}  // namespace steps

SubplanRun::SubplanRun(const CompiledSubplan& compiled, ExecutionState& state)
    : compiled_(compiled),
      state_(state),
      plan_(compiled.plan->instantiate(state)),
      key_types_{compiled.key_types},
      table_(key_types_),
      with_nulls_(key_types_) {}

void SubplanRun::reset() {
  plan_->close();
  table_.clear();
  with_nulls_.clear();
  known_ = false;
}

bool SubplanRun::has_keys() {
  Arena* arena = state_.rows.arena;
  if (!known_) build();
  state_.rows.use_arena(*arena);
  return table_.size() != 0 || with_nulls_.size() != 0;
}

Datum SubplanRun::evaluate() {
  // The operators of the subquery use memory of their own.
  Arena* arena = state_.rows.arena;
  if (compiled_.hashed) return probe(&state_.registers[compiled_.hash_key]);
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
    read_row();
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
  if (is_array_type(*compiled_.result_type))
    return array_of_arrays(element_type(*compiled_.result_type), values, results);
  return make_array(compiled_.result_type->oid, values, results);
}

void SubplanRun::read_row() {
  for (size_t i = 0; i < compiled_.row_parameters.size(); ++i) {
    state_.registers[compiled_.row_parameters[i]] = state_.registers[compiled_.plan->output[i]];
  }
}

void SubplanRun::build() {
  const std::vector<const TypeInfo*>& types = key_types_.types;
  Arena scratch;
  plan_->open();
  while (plan_->next()) {
    state_.session.maybe_yield();
    read_row();
    if (scratch.bytes_reserved() != 0) scratch.reset();
    state_.rows.use_arena(scratch);
    compiled_.row_keys.evaluate(state_.registers.data(), state_.rows);
    const Datum* keys = &state_.registers[compiled_.row_key];
    bool has_null = std::any_of(keys, keys + types.size(), [](Datum key) { return key.null; });
    if (has_null && compiled_.null_is_false) continue;
    RowHashTable& table = has_null ? with_nulls_ : table_;
    uint64_t hash = key_types_.hash(keys);
    if (table.find(keys, hash) != nullptr) continue;
    Datum* kept = table.add(hash, types.size())->values();
    for (size_t i = 0; i < types.size(); ++i)
      kept[i] = copy_datum(keys[i], *types[i], table.arena());
  }
  known_ = true;
}

Datum SubplanRun::probe(const Datum* keys) {
  size_t count = key_types_.types.size();
  bool has_null = std::any_of(keys, keys + count, [](Datum key) { return key.null; });
  if (!has_null && table_.find(keys, key_types_.hash(keys)) != nullptr) return Datum::of_bool(true);
  if (compiled_.null_is_false) return Datum::of_bool(false);
  bool unknown = may_match(with_nulls_, keys) || (has_null && may_match(table_, keys));
  return unknown ? Datum() : Datum::of_bool(false);
}

// Whether a row is equal but for NULLs, of which either side has one.
bool SubplanRun::may_match(RowHashTable& table, const Datum* keys) {
  if (table.size() == 0) return false;
  for (HashedRow* row : table.buckets()) {
    for (; row != nullptr; row = row->next) {
      state_.session.maybe_yield();
      if (key_types_.may_be_equal(row->values(), keys)) return true;
    }
  }
  return false;
}

}  // namespace pgsilo
