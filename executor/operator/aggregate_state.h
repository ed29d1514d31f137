// The aggregate calls of one grouping: their states side by side for each group, DISTINCT and ORDER
// BY inside of calls. Thread safety: compiled part immutable; a run belongs to one operator.
#pragma once

#include "executor/functions/function.h"
#include "executor/operator/hash_table.h"
#include "executor/operator/operator.h"
#include "executor/plan_compiler.h"

namespace pgsilo {

struct CompiledAggregate {
  const AggregateFunction* function = nullptr;
  const CallSite* site = nullptr;
  std::vector<ExpressionProgram> arguments;
  std::vector<const TypeInfo*> argument_types;  // null for what has no type of ours
  ExpressionProgram filter;
  bool has_filter = false;
  bool distinct = false;
  bool is_presorted = false;  // a group's rows come as DISTINCT and ORDER BY want them
  struct Order {
    ExpressionProgram value;
    const TypeInfo* type = nullptr;
    bool descending = false;
    bool nulls_first = false;
  };
  std::vector<Order> order;
  size_t offset = 0;  // of its state among the group's states

  // Rows are kept until the group is complete.
  bool collects() const { return !is_presorted && (distinct || !order.empty()); }
  // What came last is all that DISTINCT has to know.
  bool passes_repeats() const { return is_presorted && distinct; }
};

struct CompiledAggregates {
  std::vector<CompiledAggregate> calls;
  size_t state_bytes = 0;

  void compile(std::span<const AggregateCall> calls, PlanCompiler::Slots slots, PlanCompiler& plan);
};

class AggregateRun {
 public:
  AggregateRun(const CompiledAggregates& compiled, ExecutionState& state);

  // States of a new group, in the memory that lives as long as the group.
  const char* new_states(Arena& memory);
  // Takes the row in the registers.
  void step(const char* states, Arena& memory);
  // The results, into `targets`; by-reference ones live in the evaluation's arena or with the
  // group.
  void finish(const char* states, const Register* targets);

 private:
  // What collecting aggregates keep per group.
  struct Collected {
    Datum* row;  // arguments, then order keys
    Collected* next;
  };
  struct Collection {
    Collected* first;
    Collected** last;
    size_t count;
  };

  void collect(const CompiledAggregate& call, Collection& collection, Arena& memory);
  // Whether the arguments are those of the row before; else they are remembered.
  bool is_repeat(const CompiledAggregate& call, Collection& last, Arena& memory);
  void replay(const CompiledAggregate& call, const Collection& collection, void* state);
  void feed(const CompiledAggregate& call, void* state, const Datum* arguments);

  const CompiledAggregates& compiled_;
  ExecutionState& state_;
  Scratch scratch_;
  std::vector<Datum> arguments_;
};

}  // namespace pgsilo
