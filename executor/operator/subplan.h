// A subquery inside an expression, in one Execution.
// Thread safety: none; one Execution.
#pragma once

#include "executor/operator/hash_table.h"
#include "executor/operator/operator.h"

namespace pgsilo {

class SubplanRun {
 public:
  SubplanRun(const CompiledSubplan& compiled, ExecutionState& state);
  // The subquery's value for the execution parameters as they are now. By-reference results live in
  // the evaluation's arena or, for subqueries that run once, until the end of the run.
  Datum evaluate();
  // Hashed: whether there is any key that the outer row's may be equal to. To be asked before
  // evaluate(), which wants the outer row's keys: they are not computed for nothing.
  bool has_keys();
  // Forgets what was kept, at the end of a run.
  void reset();

 private:
  Datum run(Arena& results);
  Datum scalar(Arena& results);
  Datum any_or_all();
  Datum array(Arena& results);
  // Keys of the outer row are registers: `keys` is the first.
  Datum probe(const Datum* keys);
  bool may_match(RowHashTable& table, const Datum* keys);
  void build();
  void read_row();

  const CompiledSubplan& compiled_;
  ExecutionState& state_;
  std::unique_ptr<Operator> plan_;
  bool known_ = false;  // run_once: value_ is set, or the table is built
  Datum value_;
  // Hashed: the different keys of the subquery's rows, and those of which a part is NULL.
  KeyTypes key_types_;
  RowHashTable table_;
  RowHashTable with_nulls_;
};

}  // namespace pgsilo
