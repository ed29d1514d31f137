// What compile() makes of a PlannedStatement: operators with their programs, the first image of the
// register file, subplans. Internal to executor/. Thread safety: immutable after compilation.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/arena.h"
#include "executor/expression/expression_program.h"
#include "executor/row_shape.h"
#include "planner/bound/expression.h"

namespace pgsilo {

class MembershipSet;
class Operator;
class UtilityCommand;
struct TypeInfo;
struct ExecutionState;
struct PlannedStatement;

// The immutable half of an operator; the running half is an Operator.
struct CompiledOperator {
  virtual ~CompiledOperator() = default;
  virtual std::unique_ptr<Operator> instantiate(ExecutionState& state) const = 0;

  std::vector<Register> output;  // where column i of its rows is
  // False: rescans in one Execution return the same rows.
  bool depends_on_parameters = false;
};

// A subquery inside an expression (planner/bound/expression.h, SubplanExpression).
struct CompiledSubplan {
  SubplanKind kind = SubplanKind::exists;
  bool run_once = false;
  const CompiledOperator* plan = nullptr;
  // any, all: the outer row's condition; column i of a subquery row is copied to row_parameters[i]
  // first.
  ExpressionProgram condition;
  std::vector<Register> row_parameters;
  // any, by a hash table over what row_keys compute from a row, into registers from row_key on; the
  // outer row's keys are in those from hash_key on.
  bool hashed = false;
  bool null_is_false = false;  // to who asks
  Register hash_key = 0;
  Register row_key = 0;
  ExpressionProgram row_keys;
  std::vector<const TypeInfo*> key_types;
  const TypeInfo* result_type = nullptr;  // scalar, array: of the column
};

// A materialised WITH query.
struct CompiledCte {
  const CompiledOperator* plan = nullptr;
  RowShape shape;
};

struct CompiledStatement {
  CompiledStatement();
  ~CompiledStatement();

  std::shared_ptr<const PlannedStatement> planned;
  Arena arena{ArenaLimit::reserve};  // steps and what they point to
  std::vector<std::unique_ptr<const CompiledOperator>> operators;
  std::vector<CompiledSubplan> subplans;
  std::vector<CompiledCte> ctes;
  std::vector<std::unique_ptr<MembershipSet>> constant_sets;
  uint32_t set_count = 0;                  // of sets that each run fills
  const CompiledOperator* root = nullptr;  // null for utility statements
  std::unique_ptr<const UtilityCommand> utility;

  // The register file at the start of a run: parameters first, then execution parameters, then
  // constants (which are set) and everything else in the order of compilation.
  std::vector<Datum> registers;
  uint32_t parameter_count = 0;
};

}  // namespace pgsilo
