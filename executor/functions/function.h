// The code behind pg_proc: scalar functions, operators, casts and aggregates by procedure OID. One
// file per family lists its entries; function_table.cpp joins the lists. Strictness is the
// evaluator's business: a strict function is never called with a NULL argument (catalog/builtin
// says which are strict). Results by reference live in ctx.arena or are part of an argument. Thread
// safety: the tables are constant; a context belongs to one fiber.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/arena.h"
#include "sql/types/datum.h"
#include "sql/types/type_oid.h"

namespace pgsilo {

struct ExecutionContext;
struct TypeContext;

// What a call looks like from its place in the statement; functions with VARIADIC or polymorphic
// arguments ask.
struct CallSite {
  std::span<const Oid> argument_types;
  Oid result_type = invalid_oid;
};

struct EvalContext {
  Arena* arena = nullptr;        // results; reset by the caller between rows or statements
  TypeContext* types = nullptr;  // styles, zone; its own arena member is the same arena
  ExecutionContext* execution =
      nullptr;                     // session state; null only while the planner folds constants
  const CallSite* call = nullptr;  // set before each call
};

using ScalarFunction = Datum (*)(EvalContext& ctx, const Datum* args);

struct FunctionEntry {
  Oid oid;
  ScalarFunction function;
};

// Null for procedures that are not scalar functions (aggregates, set-returning functions) or not
// known.
ScalarFunction find_function(Oid procedure);

// An aggregate keeps its state in `state_bytes` bytes (8-byte aligned, zeroed, trivially
// destructible) and what it points at in the arena given to step, which lives as long as the group.
struct AggregateFunction {
  Oid oid;
  size_t state_bytes;
  // Takes one row; with `strict`, rows with a NULL argument are not taken.
  void (*step)(EvalContext& ctx, void* state, const Datum* args);
  Datum (*finish)(EvalContext& ctx, const void* state);
  bool strict;
};

const AggregateFunction* find_aggregate(Oid procedure);

// The families, for the tables.
namespace functions {
std::span<const FunctionEntry> comparison();
std::span<const FunctionEntry> integer();
std::span<const FunctionEntry> floating_point();
std::span<const FunctionEntry> numeric();
std::span<const FunctionEntry> conversion();
std::span<const FunctionEntry> text();
std::span<const FunctionEntry> pattern();
std::span<const FunctionEntry> regexp();
std::span<const FunctionEntry> date_time();
std::span<const FunctionEntry> time_zone();
std::span<const FunctionEntry> text_format();
std::span<const FunctionEntry> date_format();
std::span<const FunctionEntry> date_reading();
std::span<const FunctionEntry> number_format();
std::span<const FunctionEntry> session();
std::span<const FunctionEntry> monitoring();
std::span<const FunctionEntry> log_position();
std::span<const FunctionEntry> sizes();
std::span<const FunctionEntry> sequence();
std::span<const FunctionEntry> advisory_lock();
std::span<const FunctionEntry> definition_text();
std::span<const FunctionEntry> comment();
std::span<const FunctionEntry> view();
std::span<const FunctionEntry> catalog_objects();
std::span<const FunctionEntry> array();
std::span<const FunctionEntry> array_parts();
std::span<const FunctionEntry> array_search();
std::span<const FunctionEntry> enumeration();
std::span<const AggregateFunction> aggregates();
std::span<const AggregateFunction> array_aggregates();
std::span<const AggregateFunction> statistics_aggregates();
}  // namespace functions

}  // namespace pgsilo
