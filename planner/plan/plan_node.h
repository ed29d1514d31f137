// Plans: trees of operators, chosen by the planner, run by the executor, printed by explain.
//
// Rows and slots
// - An operator returns rows of Datums. `columns` describes them: column i is slot i, for every
// kind.
// - An expression held by an operator reads slots of the operator's INPUT ROW, which is, unless the
// field's comment says
//   otherwise: the child's row; for joins the left row's slots followed by the right row's; for
//   scans the scan's own output row.
// - Scans return only the table columns they are asked for (`TableScan::columns`), in that order,
// and, if
//   their rows are `marked`, one slot more at the end.
// - A row handle is an opaque Datum of the executor (it names the stored row for UPDATE, DELETE and
// SELECT FOR UPDATE); it is carried through
//   joins, sorts and hash tables like any value and stays valid until the statement ends.
//
// Rescans. A nested loop, a subplan or a limit may restart an operator; what changed meanwhile are
// execution parameters (bound/expression.h). Who keeps an operator's rows replays them where its
// `depends_on_parameters` is false, as PostgreSQL does: volatile functions are not called again.
//
// Nodes live in the PlannedStatement's Arena, are trivially destructible and immutable once
// planned. Thread safety: immutable, so free.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/scan_direction.h"
#include "planner/bound/check_constraint.h"
#include "planner/bound/expression.h"
#include "planner/bound/index_keys.h"
#include "planner/plan/join_type.h"
#include "sql/internal_error.h"

namespace pgsilo {

struct TableDescriptor;
struct IndexDescriptor;

namespace ast {
enum class LockStrength : uint8_t;
enum class LockWait : uint8_t;
}  // namespace ast

enum class PlanKind : uint8_t {
  result,
  values,
  point_get,
  index_scan,
  sequential_scan,
  function_scan,
  cte_scan,
  work_table_scan,
  filter,
  project,
  nested_loop,
  hash_join,
  merge_join,
  aggregate,
  unique,
  sort,
  limit,
  append,
  set_operation,
  recursive_union,
  materialize,
  memoize,
  lock_rows,
  insert,
  update,
  delete_,
};

struct PlanColumn {
  Oid type = 0;
  int32_t typmod = -1;
  std::string_view name;
};

struct PlanNode {
  PlanKind kind = PlanKind::result;
  // It, or something below, reads an execution parameter that is set outside of it.
  bool depends_on_parameters = false;
  std::span<const PlanColumn> columns;
  // Estimates, in PostgreSQL's units; explain's "(cost=startup..total rows=rows width=width)".
  double startup_cost = 0;
  double total_cost = 0;
  double rows = 0;
  int32_t width = 0;
};

template <typename T>
const T* as(const PlanNode* node) {
  PGSILO_REQUIRE(node != nullptr && node->kind == T::plan_kind);
  return static_cast<const T*>(node);
}

template <typename T>
const T* try_as(const PlanNode* node) {
  return node != nullptr && node->kind == T::plan_kind ? static_cast<const T*>(node) : nullptr;
}

// --- leaves ---

// One row of no slots, or none if `one_time_filter` is set and not true. SELECT without FROM
// projects it. The filter reads no slot.
struct ResultNode : PlanNode {
  static constexpr PlanKind plan_kind = PlanKind::result;
  const BoundExpression* one_time_filter = nullptr;
};

// VALUES. Expressions read no slot. Every row has columns.size() expressions.
struct ValuesNode : PlanNode {
  static constexpr PlanKind plan_kind = PlanKind::values;
  std::span<const ExpressionList> rows;
};

// That the rows of a relation are locked, and how.
struct RowMark {
  int32_t relation = 0;  // its number in the query
  ast::LockStrength strength{};
  ast::LockWait wait{};
};

// What all scans of a table share.
struct TableScan : PlanNode {
  const TableDescriptor* table = nullptr;
  // Alias, or the table's name.
  std::string_view alias;
  // Slot i is the table's column table_columns[i] (index into the descriptor's columns, 0-based).
  // May be empty (count(*)). Ascending, no duplicates.
  std::span<const int32_t> table_columns;
  // Not null: the rows are going to be locked; one more slot after those of table_columns, the row
  // handle.
  const RowMark* mark = nullptr;
  // On the scan's own output row; only rows for which it is true are returned. Null: all. For index
  // scans it repeats nothing that the key conditions already guarantee.
  const BoundExpression* filter = nullptr;
};

// How the value of a key expression becomes a key of the index column's type.
enum class KeyConversion : uint8_t {
  none,           // the expression has the column's type already
  narrow_integer  // int8 or int4 value, narrower integer column: a value that does not fit equals
                  // nothing (equality), or lies beyond all keys (range: the bound is then open, or
                  // the scan empty)
};

// One value a key column is compared with. Reads no slot: constants, parameters and execution
// parameters only. If it is NULL, nothing matches (but see is_null).
struct KeyValue {
  const BoundExpression* value = nullptr;
  KeyConversion conversion = KeyConversion::none;
  bool is_null = false;  // column IS NULL; then value is null
};

// At most one row: every column of the primary key or of a unique index is given by equality, none
// of them is_null.
struct PointGetNode : TableScan {
  static constexpr PlanKind plan_kind = PlanKind::point_get;
  const IndexDescriptor* index = nullptr;  // null: the primary tree
  std::span<const KeyValue> keys;          // one per key column, in key order
  const BoundExpression* index_condition =
      nullptr;  // the same as a condition, for explain; reads the scan's row
};

// Keys of an index or of a primary tree: those whose first columns equal `equal`, and whose next
// column lies within `lower` and `upper`.
// - With a list, key column number list_column (< equal.size(); its element in `equal` is unused)
// takes each of its values: the elements of `array` if that is set, else of `list`. NULLs match
// nothing.
// - `lower` and `upper` are bounds on the column's VALUES, whatever the column's direction in the
// index: the scan turns them for a descending column. A bound whose value is NULL: no rows. If
// either is set, or skip_nulls, rows whose column is NULL are not part of the range.
// - Bounds on later columns are in the scan's `filter`.
struct KeyRanges {
  std::span<const KeyValue> equal;
  std::span<const BoundExpression* const> list;
  const BoundExpression* array = nullptr;
  KeyConversion list_conversion = KeyConversion::none;
  int32_t list_column = -1;
  KeyValue lower;  // value null: unbounded
  KeyValue upper;
  bool lower_inclusive = false;
  bool upper_inclusive = false;
  bool skip_nulls = false;
  // Every key column is in `equal` and the key is unique: at most one row for each value of the
  // list, looked up instead of scanned for.
  bool is_unique_lookup = false;

  bool has_range() const { return lower.value != nullptr || upper.value != nullptr; }
  bool excludes_nulls() const { return has_range() || skip_nulls; }
};

struct IndexPart {
  const IndexDescriptor* index = nullptr;            // null: the primary tree
  std::span<const KeyRanges> ranges;                 // at least one
  const BoundExpression* index_condition = nullptr;  // for explain, if there are several
};

// The union of ranges. Of one index: in its order or backwards, wherever the ranges overlap. Of
// several, each row once, in no order.
struct IndexScanNode : TableScan {
  static constexpr PlanKind plan_kind = PlanKind::index_scan;
  std::span<const IndexPart> parts;  // at least one
  ScanDirection direction = ScanDirection::forward;
  const BoundExpression* index_condition = nullptr;  // reads the scan's row
};

// The whole primary tree, in key order (no order promised to the client).
struct SequentialScanNode : TableScan {
  static constexpr PlanKind plan_kind = PlanKind::sequential_scan;
};

// Set-returning and ordinary functions in FROM; several (ROWS FROM) side by side, the shorter
// padded with NULLs. Calls read no slot (a lateral reference is an execution parameter). Each gives
// one column, or, if it returns records, those of row_columns(). Where returns_set, the expression
// is a CallExpression; otherwise any, and gives one row.
struct FunctionScanNode : PlanNode {
  static constexpr PlanKind plan_kind = PlanKind::function_scan;
  ExpressionList calls;
  std::span<const bool> returns_set;  // per call
  bool with_ordinality = false;       // one int8 column more, counting from 1
  std::string_view alias;
  std::string_view function_name;
  const BoundExpression* filter = nullptr;  // on its own output row, or null
};

// Reads the rows of PlannedStatement::ctes[cte], which is run at most once per Execution and kept.
struct CteScanNode : PlanNode {
  static constexpr PlanKind plan_kind = PlanKind::cte_scan;
  int32_t cte = 0;
  std::string_view name;
  std::string_view alias;
  const BoundExpression* filter = nullptr;  // on its own output row, or null
};

// --- one child ---

// Rows for which `condition` is true. HAVING is a filter over an aggregate.
struct FilterNode : PlanNode {
  static constexpr PlanKind plan_kind = PlanKind::filter;
  const PlanNode* child = nullptr;
  const BoundExpression* condition = nullptr;
  // If set and not true, no row and the child is not run. Reads no slot.
  const BoundExpression* one_time_filter = nullptr;
};

struct ProjectNode : PlanNode {
  static constexpr PlanKind plan_kind = PlanKind::project;
  const PlanNode* child = nullptr;
  ExpressionList expressions;  // one per output column
};

// The child's rows are kept at the first scan; rescans replay them while nothing below depends on
// changed parameters.
struct MaterializeNode : PlanNode {
  static constexpr PlanKind plan_kind = PlanKind::materialize;
  const PlanNode* child = nullptr;
};

// The child's rows by `keys`, the values of what it reads from outside: those of values that came
// before are replayed, as long as there is room for them.
struct MemoizeNode : PlanNode {
  static constexpr PlanKind plan_kind = PlanKind::memoize;
  const PlanNode* child = nullptr;
  ExpressionList keys;      // execution parameters
  bool single_row = false;  // there is at most one row for each value
  size_t memory_bytes = 0;  // room for all
};

struct AggregateCall {
  Oid procedure = 0;  // the aggregate's OID in pg_proc
  Oid result_type = 0;
  // count(*): empty. Types as the aggregate declares them, but for polymorphic and "any" ones.
  ExpressionList arguments;
  const BoundExpression* filter = nullptr;  // FILTER (WHERE ...), or null
  // Each different value of the first argument once. Ordered by the argument's type, as PostgreSQL
  // sorts for it.
  bool distinct = false;
  Oid distinct_equality = 0;
  std::span<const BoundSortKey> order_by;  // expressions over the child's row
  // The rows of a group come in the order that `order_by` and `distinct` want.
  bool is_presorted = false;
};

// The row of one table that LockRows locks.
struct LockedRow {
  const TableDescriptor* table = nullptr;
  const RowMark* mark = nullptr;
  int32_t handle_slot = 0;
};

// SELECT ... FOR UPDATE, NO KEY UPDATE, SHARE, KEY SHARE: the child's rows, each locked before it
// is handed on; those that somebody else has locked left out if the mark says SKIP LOCKED.
struct LockRowsNode : PlanNode {
  static constexpr PlanKind plan_kind = PlanKind::lock_rows;
  const PlanNode* child = nullptr;
  std::span<const LockedRow> rows;
};

enum class AggregateStrategy : uint8_t {
  plain,   // no grouping: exactly one row, also for no input
  hashed,  // a hash table of groups
  sorted   // input comes ordered so that equal keys are neighbours; output keeps that order
};

// Output row: the group keys, then the aggregates. GROUP BY treats NULLs as equal.
// DISTINCT and UNION are aggregates without calls.
struct AggregateNode : PlanNode {
  static constexpr PlanKind plan_kind = PlanKind::aggregate;
  const PlanNode* child = nullptr;
  AggregateStrategy strategy = AggregateStrategy::plain;
  ExpressionList keys;  // over the child's row
  std::span<const AggregateCall> calls;
};

// The first of each run of rows that are equal in `key_slots` (NULLs equal); the input is sorted by
// them. Output: the child's row. DISTINCT ON, and DISTINCT over sorted input.
struct UniqueNode : PlanNode {
  static constexpr PlanKind plan_kind = PlanKind::unique;
  const PlanNode* child = nullptr;
  std::span<const int32_t> key_slots;
};

// By the btree order of the slot's type.
struct SortKey {
  int32_t slot = 0;
  bool descending = false;
  bool nulls_first = false;
};

// The child's rows, which come by the first `presorted` keys, sorted by the rest. With `limit_hint`
// only the first (limit_count + limit_offset) are wanted (top-N); the LimitNode above still counts.
struct SortNode : PlanNode {
  static constexpr PlanKind plan_kind = PlanKind::sort;
  const PlanNode* child = nullptr;
  std::span<const SortKey> keys;
  size_t presorted = 0;
  const struct LimitNode* limit_hint = nullptr;
};

// LIMIT and OFFSET, int8 expressions that read no slot, null for none; a NULL value means none too.
// Negative: 2201W "LIMIT must not be negative", 2201X "OFFSET must not be negative".
struct LimitNode : PlanNode {
  static constexpr PlanKind plan_kind = PlanKind::limit;
  const PlanNode* child = nullptr;
  const BoundExpression* count = nullptr;
  const BoundExpression* offset = nullptr;
  // WITH TIES: rows that are equal in these to the last one, by which the input is sorted, follow.
  std::span<const int32_t> tie_slots;
};

// --- two or more children ---

// Output row: left slots, then right slots (left slots only for semi and anti).
struct JoinNode : PlanNode {
  JoinType join_type = JoinType::inner;
  const PlanNode* left = nullptr;
  const PlanNode* right = nullptr;
  // A pair matches if this is true, over left slots then right slots. Null: always.
  const BoundExpression* condition = nullptr;
  // Applied to the joined row after null extension (WHERE conditions on an outer join). Null: none.
  const BoundExpression* filter = nullptr;
  // At most one right row matches each left row.
  bool right_is_unique = false;
};

struct NestedLoopParameter {
  int32_t execution_parameter = 0;
  int32_t left_slot = 0;
};

// For each left row: set the parameters from its slots, rescan the right side.
struct NestedLoopNode : JoinNode {
  static constexpr PlanKind plan_kind = PlanKind::nested_loop;
  std::span<const NestedLoopParameter> parameters;
};

// The right side is built into the hash table, the left side probes. A pair matches if all keys are
// equal (NULL equals nothing) and `condition` is true.
struct HashJoinNode : JoinNode {
  static constexpr PlanKind plan_kind = PlanKind::hash_join;
  ExpressionList left_keys;                         // over the left row
  ExpressionList right_keys;                        // over the right row; pairwise of one type
  std::span<const Oid> equalities;                  // procedures of = per key
  const BoundExpression* hash_condition = nullptr;  // for explain; over left slots then right slots
  bool keeps_order = false;  // of the left side, when it spills, too: somebody rests on it
};

// Both sides come by their keys, upwards, NULLs last. A pair matches if all keys are equal (NULL
// equals nothing) and `condition` is true.
struct MergeJoinNode : JoinNode {
  static constexpr PlanKind plan_kind = PlanKind::merge_join;
  ExpressionList left_keys;   // over the left row
  ExpressionList right_keys;  // over the right row; pairwise of one order
  const BoundExpression* merge_condition =
      nullptr;  // for explain; over left slots then right slots
};

// UNION ALL: one child after the other. Children's columns have the same types.
struct AppendNode : PlanNode {
  static constexpr PlanKind plan_kind = PlanKind::append;
  std::span<const PlanNode*> children;
};

enum class SetOperationKind : uint8_t { intersect, intersect_all, except, except_all };

// INTERSECT and EXCEPT by counting equal rows (NULLs equal) of both children in a hash table.
struct SetOperationNode : PlanNode {
  static constexpr PlanKind plan_kind = PlanKind::set_operation;
  SetOperationKind operation = SetOperationKind::intersect;
  const PlanNode* left = nullptr;
  const PlanNode* right = nullptr;
};

// --- changes ---

struct ColumnAssignment {
  int32_t column = 0;                      // index into the table's columns
  const BoundExpression* value = nullptr;  // over the row that is said where it is used
};

// What INSERT, UPDATE and DELETE share. The MODIFIED ROW, read by `checks` and `returning`, is: all
// columns of the table in the descriptor's order (the new row; for DELETE the old one), then the
// child's slots. Without `returning` the node returns no rows and `columns` is empty.
struct ModifyNode : PlanNode {
  const TableDescriptor* table = nullptr;
  std::string_view alias;
  const PlanNode* child = nullptr;
  std::span<const int32_t>
      not_null_columns;  // of the table, those that this statement can make NULL
  // Of INSERT and UPDATE, over the table's columns: what is computed when the others are known.
  std::span<const ColumnAssignment> generated;
  std::span<const CheckConstraint> checks;
  std::span<const IndexKeys> index_keys;  // over the table's columns
  ExpressionList returning;
};

struct RowChange {
  std::span<const ColumnAssignment> assignments;
  bool changes_primary_key = false;
  // Indexes with an assigned column, the only ones whose entries can change (if the primary key
  // changes: all).
  std::span<const IndexDescriptor*> changed_indexes;
};

// ON CONFLICT. Expressions read all columns of the row that is there, then all of the proposed one.
struct ConflictAction : RowChange {
  std::span<const IndexDescriptor*> arbiters;  // unique; a conflict with another one is an error
  bool any_index = false;                      // no arbiter was named: all unique indexes are
  bool updates = false;                        // else DO NOTHING
  const BoundExpression* condition = nullptr;  // of DO UPDATE ... WHERE; null: none
  // Before that, of views: if one is not true, the row is not visible through it: an error.
  std::span<const CheckConstraint> visible;
  std::span<const ColumnAssignment> generated;  // over the new row alone
  std::span<const int32_t> not_null_columns;
};

// One stored row per child row.
struct InsertNode : ModifyNode {
  static constexpr PlanKind plan_kind = PlanKind::insert;
  // One per column of the table (defaults included), over the child's row, of the column's type and
  // typmod. Null for dropped and generated columns.
  ExpressionList values;
  const ConflictAction* conflict = nullptr;
};

struct ColumnChange {
  int32_t column = 0;  // index into the table's columns
  bool adds = false;   // SET x = x + ... or x - ... of an integer: it only grows
};

// All that an UPDATE of one row rests on and does, in columns of fixed width. That the row has all
// its columns, and which of them are null, it rests on in any case.
struct PartialUpdate {
  std::span<const int32_t> used_columns;  // indexes into the table's columns, ascending
  std::span<const ColumnChange> changes;  // one per assignment, then per generated column
};

// The child's row holds the whole old row: old_row_slots[i] is table column i (-1 for dropped
// ones). A row that comes twice is changed once.
struct UpdateNode : ModifyNode, RowChange {
  static constexpr PlanKind plan_kind = PlanKind::update;
  std::span<const int32_t> old_row_slots;
  int32_t row_handle_slot = 0;
  const PartialUpdate* partial = nullptr;  // null: it uses rows as a whole
};

// old_row_slots as in UpdateNode: index entries are found through it.
struct DeleteNode : ModifyNode {
  static constexpr PlanKind plan_kind = PlanKind::delete_;
  std::span<const int32_t> old_row_slots;
  int32_t row_handle_slot = 0;
};

}  // namespace pgsilo
