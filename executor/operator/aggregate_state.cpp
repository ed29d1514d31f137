#include "executor/operator/aggregate_state.h"

#include <algorithm>
#include <cstring>

#include "catalog/builtin/builtin.h"
#include "sql/sql_error.h"

namespace pgsilo {

void CompiledAggregates::compile(std::span<const AggregateCall> nodes, PlanCompiler::Slots slots,
                                 PlanCompiler& plan) {
  for (const AggregateCall& node : nodes) {
    CompiledAggregate& made = calls.emplace_back();
    made.function = find_aggregate(node.procedure);
    if (made.function == nullptr) {
      const BuiltinProcedure* known = find_procedure(node.procedure);
      throw_unsupported(concat("aggregate ", known == nullptr ? "?" : known->name));
    }
    made.arguments = plan.expressions(node.arguments, slots);
    std::vector<Oid> types;
    for (const BoundExpression* argument : node.arguments) {
      types.push_back(argument->type);
      made.argument_types.push_back(find_type(argument->type));
    }
    Arena& arena = plan.statement().arena;
    auto* site = arena.make<CallSite>();
    site->argument_types = arena.copy_span(types);
    site->result_type = node.result_type;
    made.site = site;
    made.has_filter = node.filter != nullptr;
    if (made.has_filter) made.filter = plan.condition(node.filter, slots);
    made.distinct = node.distinct;
    made.is_presorted = node.is_presorted;
    for (const BoundSortKey& key : node.order_by) {
      made.order.push_back({plan.expression(key.expression, slots),
                            &type_info(key.expression->type), key.descending, key.nulls_first});
    }
    made.offset = state_bytes;
    // A collecting call's rows wait beside its state, or the last one does.
    bool has_rows = made.collects() || made.passes_repeats();
    size_t bytes = made.function->state_bytes + (has_rows ? sizeof(void*) * 3 : 0);
    state_bytes += (bytes + 15) / 16 * 16;
  }
}

AggregateRun::AggregateRun(const CompiledAggregates& compiled, ExecutionState& state)
    : compiled_(compiled), state_(state), scratch_(state) {
  size_t most = 1;
  for (const CompiledAggregate& call : compiled.calls) {
    most = std::max(most, call.arguments.size() + call.order.size());
  }
  arguments_.resize(most);
}

const char* AggregateRun::new_states(Arena& memory) {
  if (compiled_.state_bytes == 0) return nullptr;
  void* states = memory.allocate(compiled_.state_bytes, 16);
  std::memset(states, 0, compiled_.state_bytes);
  return static_cast<const char*>(states);
}

namespace {
// The states are ours; the group's Datum only lends its pointer.
char* state_of(const char* states, const CompiledAggregate& call) {
  return const_cast<char*>(states) + call.offset;
}
}  // namespace

void AggregateRun::step(const char* states, Arena& memory) {
  for (const CompiledAggregate& call : compiled_.calls) {
    scratch_.begin_row();
    Datum* file = state_.registers.data();
    if (call.has_filter && !call.filter.is_true(file, state_.rows)) continue;
    size_t count = call.arguments.size();
    for (size_t i = 0; i < count; ++i)
      arguments_[i] = call.arguments[i].evaluate(file, state_.rows);
    auto* collection =
        reinterpret_cast<Collection*>(state_of(states, call) + call.function->state_bytes);
    if (call.collects()) {
      collect(call, *collection, memory);
      continue;
    }
    if (call.passes_repeats() && is_repeat(call, *collection, memory)) continue;
    // The state's own memory, not the row's.
    state_.rows.use_arena(memory);
    feed(call, state_of(states, call), arguments_.data());
  }
}

void AggregateRun::feed(const CompiledAggregate& call, void* state, const Datum* arguments) {
  if (call.function->strict) {
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      if (arguments[i].null) return;
    }
  }
  state_.rows.call = call.site;
  call.function->step(state_.rows, state, arguments);
}

void AggregateRun::collect(const CompiledAggregate& call, Collection& collection, Arena& memory) {
  size_t count = call.arguments.size();
  Datum* row = memory.make_span<Datum>(count + call.order.size()).data();
  for (size_t i = 0; i < count; ++i) {
    row[i] = call.argument_types[i] == nullptr
                 ? arguments_[i]
                 : copy_datum(arguments_[i], *call.argument_types[i], memory);
  }
  for (size_t i = 0; i < call.order.size(); ++i) {
    Datum value = call.order[i].value.evaluate(state_.registers.data(), state_.rows);
    row[count + i] = copy_datum(value, *call.order[i].type, memory);
  }
  auto* item = memory.make<Collected>(row, nullptr);
  if (collection.first == nullptr) collection.last = &collection.first;
  *collection.last = item;
  collection.last = &item->next;
  ++collection.count;
}

namespace {
// NULLs last, as PostgreSQL sorts for DISTINCT.
int compare_values(const TypeInfo& type, const Datum& left, const Datum& right, bool nulls_first) {
  if (left.null || right.null) {
    if (left.null == right.null) return 0;
    return left.null == nulls_first ? -1 : 1;
  }
  return type.compare(left, right);
}
}  // namespace

bool AggregateRun::is_repeat(const CompiledAggregate& call, Collection& last, Arena& memory) {
  size_t count = call.arguments.size();
  bool same = last.first != nullptr;
  if (!same) last.first = memory.make<Collected>(memory.make_span<Datum>(count).data(), nullptr);
  Datum* before = last.first->row;
  for (size_t i = 0; same && i < count; ++i)
    same = compare_values(*call.argument_types[i], before[i], arguments_[i], false) == 0;
  if (same) return true;
  for (size_t i = 0; i < count; ++i)
    before[i] = copy_datum(arguments_[i], *call.argument_types[i], memory);
  return false;
}

void AggregateRun::replay(const CompiledAggregate& call, const Collection& collection,
                          void* state) {
  struct Row {
    const Datum* values;
    size_t position;
  };
  std::vector<Row> rows;
  rows.reserve(collection.count);
  for (const Collected* item = collection.first; item != nullptr; item = item->next) {
    rows.push_back({item->row, rows.size()});
  }
  size_t count = call.arguments.size();
  auto compare = [&](const Datum* left, const Datum* right) {
    for (size_t i = 0; i < call.order.size(); ++i) {
      const CompiledAggregate::Order& key = call.order[i];
      int order = 0;
      if (left[count + i].null || right[count + i].null) {
        order = compare_values(*key.type, left[count + i], right[count + i], key.nulls_first);
      } else {
        order = key.type->compare(left[count + i], right[count + i]);
        if (key.descending) order = -order;
      }
      if (order != 0) return order;
    }
    if (!call.distinct) return 0;
    for (size_t i = 0; i < count; ++i) {
      int order = compare_values(*call.argument_types[i], left[i], right[i], false);
      if (order != 0) return order;
    }
    return 0;
  };
  // Equal rows keep their order. (Not by std::stable_sort: libstdc++ 12's is deprecated to Clang.)
  std::sort(rows.begin(), rows.end(), [&](const Row& left, const Row& right) {
    int order = compare(left.values, right.values);
    return order != 0 ? order < 0 : left.position < right.position;
  });
  const Datum* previous = nullptr;
  for (const Row& row : rows) {
    if (call.distinct && previous != nullptr && compare(previous, row.values) == 0) continue;
    feed(call, state, row.values);
    previous = row.values;
  }
}

void AggregateRun::finish(const char* states, const Register* targets) {
  for (size_t i = 0; i < compiled_.calls.size(); ++i) {
    const CompiledAggregate& call = compiled_.calls[i];
    char* state = state_of(states, call);
    if (call.collects()) {
      Arena* results = state_.rows.arena;
      auto* collection = reinterpret_cast<Collection*>(state + call.function->state_bytes);
      replay(call, *collection, state);
      state_.rows.use_arena(*results);
    }
    state_.rows.call = call.site;
    state_.registers[targets[i]] = call.function->finish(state_.rows, state);
  }
}

}  // namespace pgsilo
