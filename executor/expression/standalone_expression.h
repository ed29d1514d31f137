// One bound expression compiled by itself: constants folded by the planner, defaults and
// conversions that DDL evaluates per row. Thread safety: none; one owner.
#pragma once

#include <memory>
#include <span>

#include "planner/bound/expression.h"
#include "sql/types/datum.h"

namespace pgsilo {

class Arena;
struct ExecutionContext;
struct TypeContext;

class StandaloneExpression {
 public:
  // `slot_count`: how many slots it reads. `session` is null where only immutable functions are
  // called. Subqueries are refused.
  StandaloneExpression(const BoundExpression& expression, size_t slot_count, TypeContext& types,
                       ExecutionContext* session);
  ~StandaloneExpression();
  StandaloneExpression(const StandaloneExpression&) = delete;
  StandaloneExpression& operator=(const StandaloneExpression&) = delete;

  // What holds for one statement is computed anew for each value.
  void outlive_statements();
  // By-reference results live in `arena`, in a slot or with the expression's constants.
  Datum evaluate(std::span<const Datum> slots, Arena& arena);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pgsilo
