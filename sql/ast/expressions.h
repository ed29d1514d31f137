// Syntax tree: expressions. See node.h for the conventions.
#pragma once

#include "sql/ast/node.h"
#include "sql/types/type_oid.h"

namespace pgsilo::ast {

struct SelectStmt;
struct TypeName;

enum class ConstantKind : uint8_t { null, boolean, integer, decimal, string, bit_string };

// A literal. `integer` fits int4 (PostgreSQL: anything larger is `decimal`, which the binder types
// as int8 or numeric). The grammar folds a minus sign before a number into the literal, as
// PostgreSQL does (doNegate).
struct Constant : Node {
  static constexpr NodeKind node_kind = NodeKind::constant;
  ConstantKind constant_kind = ConstantKind::null;
  bool boolean = false;
  int32_t integer = 0;
  std::string_view text;  // decimal: its digits, sign included; string: its value; bit_string: 'b'
                          // or 'x' then digits
};

// a, t.a, s.t.a, t.*; the last field is a star when `star` is set (and then not part of `fields`).
struct ColumnRef : Node {
  static constexpr NodeKind node_kind = NodeKind::column_ref;
  NameList fields;
  bool star = false;
};

// `.*` as an element of Indirection.
struct Star : Node {
  static constexpr NodeKind node_kind = NodeKind::star;
};

struct ParamRef : Node {
  static constexpr NodeKind node_kind = NodeKind::param_ref;
  int32_t number = 0;  // 1 for $1
};

enum class SortDirection : uint8_t { unspecified, ascending, descending, using_operator };
enum class NullsOrder : uint8_t { unspecified, first, last };

struct SortBy {
  const Node* expression = nullptr;
  SortDirection direction = SortDirection::unspecified;
  NullsOrder nulls = NullsOrder::unspecified;
  NameList using_operator;
  int32_t location = -1;  // of the USING operator only
};

struct WindowDef {
  std::string_view name;      // WINDOW w AS (...), or OVER w
  std::string_view ref_name;  // OVER (w ...)
  NodeList partition_by;
  List<SortBy> order_by;
  int32_t frame_options = 0;  // PostgreSQL's FRAMEOPTION_ bits
  const Node* start_offset = nullptr;
  const Node* end_offset = nullptr;
  int32_t location = -1;
};

// f(args). SQL-syntax functions arrive under their pg_catalog names: EXTRACT -> pg_catalog.extract,
// AT TIME ZONE -> pg_catalog.timezone, SUBSTRING FROM FOR -> pg_catalog.substring, TRIM ->
// pg_catalog.btrim, POSITION, OVERLAY ...
struct FuncCall : Node {
  static constexpr NodeKind node_kind = NodeKind::func_call;
  NameList name;
  NodeList arguments;
  List<SortBy> order_by;            // agg(x ORDER BY y), or WITHIN GROUP (ORDER BY y)
  const Node* filter = nullptr;     // FILTER (WHERE ...), or null
  const WindowDef* over = nullptr;  // or null
  bool within_group = false;
  bool star = false;        // count(*)
  bool distinct = false;    // count(DISTINCT x)
  bool variadic = false;    // f(VARIADIC array)
  bool sql_syntax = false;  // written with special syntax: column name is still the function's
};

enum class OperatorKind : uint8_t {
  op,               // left (null for a prefix operator) name right
  op_any,           // left name ANY (right: an array)
  op_all,           // left name ALL (right: an array)
  is_distinct,      // name is "="
  is_not_distinct,  // name is "="
  nullif,           // name is "="
  in,       // name "=" for IN, "<>" for NOT IN; arguments is the list (IN (SELECT) is a SubLink)
  like,     // name "~~" or "!~~"; right may be pg_catalog.like_escape(pattern, escape)
  ilike,    // name "~~*" or "!~~*"; right as for like
  similar,  // name "~" or "!~"; right is pg_catalog.similar_to_escape(pattern[, escape])
  between,  // arguments = {low, high}, for this and the next three
  not_between,
  between_symmetric,
  not_between_symmetric,
};

struct OperatorExpr : Node {
  static constexpr NodeKind node_kind = NodeKind::operator_expr;
  OperatorKind operator_kind = OperatorKind::op;
  NameList name;  // one word, or schema and word for OPERATOR(s.+)
  const Node* left = nullptr;
  const Node* right = nullptr;
  NodeList arguments;
};

enum class BoolOperator : uint8_t { and_, or_, not_ };

// The grammar flattens a AND b AND c into one node.
struct BoolExpr : Node {
  static constexpr NodeKind node_kind = NodeKind::bool_expr;
  BoolOperator op = BoolOperator::and_;
  NodeList arguments;
};

struct NullTest : Node {
  static constexpr NodeKind node_kind = NodeKind::null_test;
  const Node* argument = nullptr;
  bool is_not_null = false;
};

enum class BooleanTestKind : uint8_t {
  is_true,
  is_not_true,
  is_false,
  is_not_false,
  is_unknown,
  is_not_unknown
};

struct BooleanTest : Node {
  static constexpr NodeKind node_kind = NodeKind::boolean_test;
  const Node* argument = nullptr;
  BooleanTestKind test = BooleanTestKind::is_true;
};

struct CaseWhen {
  const Node* condition = nullptr;  // a value to compare with, if the CASE has an argument
  const Node* result = nullptr;
  int32_t location = -1;
};

struct CaseExpr : Node {
  static constexpr NodeKind node_kind = NodeKind::case_expr;
  const Node* argument = nullptr;  // or null
  List<CaseWhen> whens;
  const Node* otherwise = nullptr;  // or null: NULL
};

struct CoalesceExpr : Node {
  static constexpr NodeKind node_kind = NodeKind::coalesce_expr;
  NodeList arguments;
};

struct MinMaxExpr : Node {
  static constexpr NodeKind node_kind = NodeKind::min_max_expr;
  bool is_least = false;
  NodeList arguments;
};

struct TypeName {
  NameList
      names;  // one word, or schema and word; the grammar's own types are pg_catalog.int4 and so on
  NodeList
      typmods;  // numeric(10,2): constants; interval fields: as PostgreSQL's grammar encodes them
  List<int32_t> array_bounds;  // int[3][]: {3, -1}
  Oid oid = 0;                 // not 0: this very type, of trees that were not written
  bool setof = false;
  bool percent_type = false;  // t.a%TYPE
  int32_t location = -1;
};

// CAST(x AS t), x::t, and t 'literal' (whose argument is then a string constant).
struct TypeCast : Node {
  static constexpr NodeKind node_kind = NodeKind::type_cast;
  const Node* argument = nullptr;
  const TypeName* type = nullptr;
  // Not 0: no cast that was written, but EXECUTE's argument number so-and-so, which is assigned to
  // a parameter of this type.
  int32_t execute_parameter = 0;
};

struct CollateClause : Node {
  static constexpr NodeKind node_kind = NodeKind::collate_clause;
  const Node* argument = nullptr;  // null in a column definition
  NameList collation;
};

enum class SubLinkKind : uint8_t {
  exists,
  all,         // test operator_name ALL (select)
  any,         // test operator_name ANY (select); IN has an empty operator_name and means "="
  expression,  // (select)
  array,       // ARRAY(select)
};

// NOT IN (select) is NOT over an `any` with an empty operator_name.
struct SubLink : Node {
  static constexpr NodeKind node_kind = NodeKind::sublink;
  SubLinkKind sublink_kind = SubLinkKind::exists;
  const Node* test = nullptr;  // any and all
  NameList operator_name;
  const SelectStmt* select = nullptr;
};

struct RowExpr : Node {
  static constexpr NodeKind node_kind = NodeKind::row_expr;
  NodeList arguments;
  bool is_explicit = false;  // ROW(...) rather than (a, b)
};

struct ArrayExpr : Node {
  static constexpr NodeKind node_kind = NodeKind::array_expr;
  NodeList elements;
};

// One step of x[1], x[1:2], (x).field, (x).*
struct IndirectionStep {
  enum class Kind : uint8_t { field, star, index, slice };
  Kind kind = Kind::field;
  std::string_view field;
  const Node* lower = nullptr;  // slice only, or null
  const Node* upper = nullptr;  // the index; of a slice, or null
};

struct Indirection : Node {
  static constexpr NodeKind node_kind = NodeKind::indirection;
  const Node* argument = nullptr;
  List<IndirectionStep> steps;
};

enum class SqlValue : uint8_t {
  current_date,
  current_time,
  current_time_n,  // _n: with a precision in typmod
  current_timestamp,
  current_timestamp_n,
  localtime,
  localtime_n,
  localtimestamp,
  localtimestamp_n,
  current_role,
  current_user,
  user,
  session_user,
  current_catalog,
  current_schema
};

struct SqlValueFunction : Node {
  static constexpr NodeKind node_kind = NodeKind::sql_value_function;
  SqlValue value = SqlValue::current_date;
  int32_t typmod = -1;
};

// DEFAULT in VALUES of an INSERT and in SET of an UPDATE.
struct SetToDefault : Node {
  static constexpr NodeKind node_kind = NodeKind::set_to_default;
};

enum class GroupingSetKind : uint8_t { empty, simple, rollup, cube, sets };

struct GroupingSet : Node {
  static constexpr NodeKind node_kind = NodeKind::grouping_set;
  GroupingSetKind set_kind = GroupingSetKind::empty;
  NodeList content;
};

// GROUPING(a, b)
struct GroupingFunc : Node {
  static constexpr NodeKind node_kind = NodeKind::grouping_func;
  NodeList arguments;
};

// f(name => x)
struct NamedArgument : Node {
  static constexpr NodeKind node_kind = NodeKind::named_argument;
  std::string_view name;
  const Node* argument = nullptr;
};

struct CurrentOf : Node {
  static constexpr NodeKind node_kind = NodeKind::current_of;
  std::string_view cursor_name;
};

// SET (a, b) = source: column `column` (1..columns) takes its value from one shared source node.
struct MultiAssignRef : Node {
  static constexpr NodeKind node_kind = NodeKind::multi_assign_ref;
  const Node* source = nullptr;
  int32_t column = 0;
  int32_t columns = 0;
};

}  // namespace pgsilo::ast
