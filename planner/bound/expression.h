// Bound expressions: names, overloads and casts resolved, every node typed. The binder makes them,
// the planner moves them to the operator that computes them, the executor compiles them into
// programs and explain prints them.
//
// Where values come from
// - `slot`: Datum number `slot` of the row the expression is evaluated on. Which row that is says
// the operator that
//   holds the expression (plan/plan_node.h).
// - `execution_parameter`: Datum number `index` of the statement's execution parameters, an array
// of
//   PlannedStatement::execution_parameter_count Datums that lives as long as one Execution. A
//   nested loop sets some before it rescans its inner side, a subplan sets some before it runs,
//   CASE x WHEN sets one to x. There are no other outer references: a correlated subquery sees its
//   outer rows through execution parameters only.
// - `parameter`: $n of the client, index n - 1.
// - `column`: only while planning (range table entry and column); no plan given to the executor
// contains one.
//
// NULL. Every expression is three-valued as in SQL. A strict `call` with a NULL argument yields
// NULL without being called.
//
// Nodes live in the PlannedStatement's Arena, are trivially destructible and immutable once
// planned. Thread safety: immutable, so free.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sql/internal_error.h"
#include "sql/types/datum.h"
#include "sql/types/type_oid.h"

namespace pgsilo {

struct PlanNode;
struct BoundQuery;

enum class ExpressionKind : uint8_t {
  constant,
  parameter,
  slot,
  execution_parameter,
  column,  // planning only
  call,
  boolean,  // AND, OR, NOT
  null_test,
  boolean_test,
  distinct_from,
  case_when,
  coalesce,
  null_if,
  min_max,
  in_list,
  array_comparison,
  array,
  relabel,
  io_conversion,
  array_coercion,
  typmod_coercion,
  domain_coercion,
  sql_value,
  row,
  subplan,
  // planning only: become slots or subplans
  aggregate,
  sublink,
  set_returning,
};

struct BoundExpression {
  ExpressionKind kind = ExpressionKind::constant;
  Oid type = 0;
  int32_t typmod = -1;
  // Byte offset in the statement's text, or -1.
  int32_t location = -1;
};

using ExpressionList = std::span<const BoundExpression*>;

template <typename T>
const T* as(const BoundExpression* expression) {
  PGSILO_REQUIRE(expression != nullptr && expression->kind == T::expression_kind);
  return static_cast<const T*>(expression);
}

template <typename T>
const T* try_as(const BoundExpression* expression) {
  return expression != nullptr && expression->kind == T::expression_kind
             ? static_cast<const T*>(expression)
             : nullptr;
}

// A literal or folded value; `value` points into the plan's Arena. Type `unknown` (705) only while
// binding.
struct ConstantExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::constant;
  Datum value;
};

// What a plan that is made for all values of a parameter takes for how often its value is found.
enum class ValueGuess : uint8_t { average, rare, frequent };

struct ParameterExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::parameter;
  int32_t index = 0;  // 0 for $1
  ValueGuess guess = ValueGuess::average;
};

struct SlotExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::slot;
  int32_t slot = 0;
  std::string_view name;       // for explain
  std::string_view qualifier;  // the relation's alias, for explain; empty for computed columns
};

struct ExecutionParameterExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::execution_parameter;
  int32_t index = 0;
  // What it stands for, for explain: PostgreSQL prints the outer expression in its place. Null for
  // `$n`.
  const BoundExpression* source = nullptr;
};

// Planning only. Column `column` (0-based) of range table entry `relation` of the query `levels_up`
// queries out.
struct ColumnExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::column;
  int32_t relation = 0;
  int32_t column = 0;
  int32_t levels_up = 0;
};

// How a call was written, for who shows it only; the evaluator treats all alike. sql_syntax:
// EXTRACT(year FROM d) and its kin.
enum class CallForm : uint8_t {
  function,
  infix_operator,
  explicit_cast,
  implicit_cast,
  sql_syntax
};
enum class Volatility : uint8_t { immutable, stable, volatile_ };

// A function, an operator's function or a cast function.
struct CallExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::call;
  Oid procedure = 0;
  Oid operator_oid = 0;  // infix_operator only
  CallForm form = CallForm::function;
  Volatility volatility = Volatility::immutable;
  bool strict = true;
  // The last argument is an array that was collected from a VARIADIC function's trailing arguments.
  bool variadic = false;
  // Types are exactly the procedure's argument types, but for polymorphic and "any" ones.
  ExpressionList arguments;
};

enum class BooleanOperator : uint8_t { and_, or_, not_ };

// AND and OR have two or more arguments and stop at the first that decides; NOT has one.
struct BooleanExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::boolean;
  BooleanOperator op = BooleanOperator::and_;
  ExpressionList arguments;
};

// x IS [NOT] NULL. Of a `row` argument: all (no) fields are null.
struct NullTestExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::null_test;
  const BoundExpression* argument = nullptr;
  bool is_not_null = false;
};

enum class BooleanTest : uint8_t {
  is_true,
  is_not_true,
  is_false,
  is_not_false,
  is_unknown,
  is_not_unknown
};

struct BooleanTestExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::boolean_test;
  const BoundExpression* argument = nullptr;
  BooleanTest test = BooleanTest::is_true;
};

// x IS [NOT] DISTINCT FROM y: never NULL. `equality` is called for two values that are not null.
struct DistinctFromExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::distinct_from;
  const BoundExpression* left = nullptr;
  const BoundExpression* right = nullptr;
  Oid equality = 0;  // procedure
  bool negated = false;
};

struct BoundWhen {
  const BoundExpression* condition =
      nullptr;  // boolean, also for CASE x WHEN y: then it reads execution parameter
                // CaseExpression::argument_parameter
  const BoundExpression* result = nullptr;
};

struct CaseExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::case_when;
  const BoundExpression* argument =
      nullptr;  // null: CASE WHEN; else evaluated once, into argument_parameter
  int32_t argument_parameter = -1;
  std::span<const BoundWhen> whens;
  const BoundExpression* otherwise = nullptr;  // never null
};

struct CoalesceExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::coalesce;
  ExpressionList arguments;
};

// NULLIF(x, y): NULL when equality(x, y) is true, else x.
struct NullIfExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::null_if;
  const BoundExpression* left = nullptr;  // of the type that `equality` takes
  const BoundExpression* right = nullptr;
  Oid equality = 0;  // procedure
};

// GREATEST and LEAST: NULL arguments are skipped. Compared as the btree order of `type` does.
struct MinMaxExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::min_max;
  bool is_least = false;
  ExpressionList arguments;
};

// x IN (a, b, c): OR of procedure(x, item); NOT IN: AND of procedure(x, item), `procedure` being
// `<>`. x is evaluated once.
struct InListExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::in_list;
  const BoundExpression* operand = nullptr;
  ExpressionList items;  // at least one
  Oid procedure = 0;     // = or <>, strict
  Oid operator_oid = 0;
  bool negated = false;  // AND rather than OR
};

// x op ANY (array), x op ALL (array).
struct ArrayComparisonExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::array_comparison;
  const BoundExpression* operand = nullptr;
  const BoundExpression* array = nullptr;
  Oid procedure = 0;
  Oid operator_oid = 0;
  Oid element_type = 0;
  bool strict = true;
  bool is_all = false;
};

// ARRAY[a, b]; `type` is the array type.
struct ArrayExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::array;
  Oid element_type = 0;
  // The elements are arrays of that type themselves, of one shape: the rows of a greater one.
  bool of_arrays = false;
  ExpressionList elements;
};

// Of an int4, whose datum has a sign, and an oid of the same bits, whose has none.
bool sign_differs(Oid from, Oid to);

// A cast that changes no bit: varchar to text, int4 to oid.
struct RelabelExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::relabel;
  const BoundExpression* argument = nullptr;
  CallForm form = CallForm::implicit_cast;
  // The datum is another one all the same.
  bool changes_sign() const { return sign_differs(argument->type, type); }
};

// A cast by the source type's output function and the target's input function (typmod `typmod`).
struct IoConversionExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::io_conversion;
  const BoundExpression* argument = nullptr;
  CallForm form = CallForm::explicit_cast;
};

// A cast of an array's elements, one by one: by `procedure`; else `through_text`, as above; else as
// an oid of an int4 or the other way round.
struct ArrayCoercionExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::array_coercion;
  const BoundExpression* argument = nullptr;
  CallForm form = CallForm::implicit_cast;
  Oid source_element = 0;
  Oid target_element = 0;
  Oid procedure = 0;
  bool through_text = false;
};

// The value made to fit typmod `typmod` of its own type (TypeInfo::apply_typmod): varchar(n) cuts
// or fails, numeric(p,s) rounds. Only for types that have modifiers. NULL stays NULL.
struct TypmodCoercionExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::typmod_coercion;
  const BoundExpression* argument = nullptr;
  bool explicit_cast = false;  // else an assignment: what does not fit is an error
};

// A value, also NULL, made one of a domain, which has the argument's form: 23514, 23502 if the
// domain does not allow it.
struct DomainCoercionExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::domain_coercion;
  const BoundExpression* argument = nullptr;
  CallForm form = CallForm::implicit_cast;
};

enum class SqlValueKind : uint8_t {
  current_date,
  current_time,
  current_timestamp,
  localtime,
  localtimestamp,
  current_user,  // also CURRENT_ROLE and USER
  session_user,
  current_catalog,
  current_schema,
};

// `typmod` is the precision, -1 for none.
struct SqlValueExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::sql_value;
  SqlValueKind value = SqlValueKind::current_date;
};

// ROW(a, b) as an operand of IS NULL and of count(row). Comparisons of rows are taken apart by the
// binder.
struct RowExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::row;
  ExpressionList fields;
};

enum class SubplanKind : uint8_t {
  exists,  // true when the plan yields a row
  scalar,  // column 0 of its only row, NULL without one; 21000 "more than one row returned by a
           // subquery used as an expression" for two
  any,     // OR over its rows of `condition`
  all,     // AND over its rows of `condition`
  array,   // ARRAY(SELECT ...)
};

struct SubplanArgument {
  int32_t execution_parameter = 0;
  const BoundExpression* value =
      nullptr;  // evaluated on the row the subplan expression is evaluated on
};

// A subquery inside an expression. To evaluate: set every argument's execution parameter, rescan
// `plan`, fold its rows as `subplan_kind` says. `run_once`: nothing it reads changes within one
// Execution, so it is run at most once and its result (for `hashed` the table of its rows) is kept.
struct SubplanExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::subplan;
  SubplanKind subplan_kind = SubplanKind::exists;
  const PlanNode* plan = nullptr;
  int32_t number = 0;  // explain's "SubPlan 1", "InitPlan 1 (returns $0)"
  bool run_once = false;
  std::span<const SubplanArgument> arguments;
  // any, all, unless it is hashed. The condition is a boolean expression over the outer row that
  // reads column i of the subquery's row as execution parameter row_parameters[i]: set them from
  // each row, evaluate, go on until it decides.
  const BoundExpression* condition = nullptr;
  std::span<const int32_t> row_parameters;
  // any with a condition that is hash_keys[i] = row_keys[i] for all i, and run_once: the executor
  // builds a hash table of the subquery's rows once, by row_keys, which read row_parameters only,
  // and looks the outer row's hash_keys up, which read none of them. The types of both hash alike.
  // NULLs on either side make the result NULL instead of false, as in SQL's IN.
  bool hashed = false;
  ExpressionList hash_keys;
  ExpressionList row_keys;
};

// Planning only: an aggregate call of a query with grouping. plan/plan_node.h has what the executor
// sees.
struct AggregateExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::aggregate;
  Oid procedure = 0;
  ExpressionList arguments;
  const BoundExpression* filter = nullptr;
  bool star = false;
  bool distinct = false;
  int32_t levels_up = 0;
  std::span<const struct BoundSortKey> order_by;
};

enum class SublinkKind : uint8_t { exists, scalar, any, all, array };

// Planning only: a subquery not planned yet.
struct SublinkExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::sublink;
  SublinkKind sublink_kind = SublinkKind::exists;
  const BoundQuery* query = nullptr;
  int32_t column = 0;  // scalar: which of its columns (SET (a, b) = (SELECT ...) reads them all)
  // any, all: condition over the outer query's columns and execution parameters row_parameters[i]
  // for output column i.
  const BoundExpression* condition = nullptr;
  std::span<const int32_t> row_parameters;
};

// Planning only: a set-returning function in a select list; becomes a function scan joined
// laterally.
struct SetReturningExpression : BoundExpression {
  static constexpr ExpressionKind expression_kind = ExpressionKind::set_returning;
  const CallExpression* call = nullptr;
};

// One item of ORDER BY, while binding.
struct BoundSortKey {
  const BoundExpression* expression = nullptr;
  bool descending = false;
  bool nulls_first = false;
};

}  // namespace pgsilo
