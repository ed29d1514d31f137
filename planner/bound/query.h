// A bound query: what the binder hands to the planner. Columns are ColumnExpressions (relation
// number in `relations`, column number); nothing is decided about how to compute it.
//
// Nodes live in the PlannedStatement's Arena. Rewrites (planner/rewrite) make changed copies.
// Thread safety: immutable once bound.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "planner/bound/check_constraint.h"
#include "planner/bound/expression.h"
#include "planner/bound/index_keys.h"
#include "planner/plan/plan_node.h"

namespace pgsilo {

struct BoundQuery;

struct BoundColumn {
  std::string_view name;
  Oid type = 0;
  int32_t typmod = -1;
};

enum class CteMode : uint8_t { unspecified, materialized, not_materialized };

// A WITH query. The planner decides whether it is put in place of each reference or run once and
// kept.
struct BoundCte {
  std::string_view name;
  const BoundQuery* query = nullptr;  // null while it is being bound
  std::span<const BoundColumn> columns;
  int32_t written_columns = 0;  // how many of them the WITH names, from the first
  CteMode mode = CteMode::unspecified;
  int32_t references = 0;
  bool reads_outer_query = false;  // then it cannot be kept over rows of the outer query
  // A UNION whose right side reads the rows that the last step added (RangeKind::work_table).
  bool is_recursive = false;
  // Of queries around it, whose steps change what it has; then reads_outer_query, too.
  std::span<const BoundCte* const> work_tables;
  int32_t work_table = -1;  // its own, while the planner is at it
  bool calls_volatile = false;
  int32_t number = -1;  // its place among the materialised ones of the statement, once it has one
};

enum class RangeKind : uint8_t { table, subquery, function, values, cte, work_table };

// One item of a query's range table.
struct BoundRelation {
  RangeKind kind = RangeKind::table;
  std::string_view alias;
  bool alias_is_written = false;         // else it is the name of what it is
  int32_t written_columns = 0;           // how many columns the alias names, from the first
  std::span<const BoundColumn> columns;  // of a table: all of its columns, dropped ones with type 0
  // Its expressions may refer to relations left of it, as columns of levels_up 1 (subquery) or 0
  // (function, values).
  bool lateral = false;
  const TableDescriptor* table = nullptr;
  std::span<const IndexKeys> index_keys;  // of the table's, as if it were relation 0
  const TableDescriptor* view = nullptr;  // `query` is what it stands for, or null
  const BoundQuery* query = nullptr;
  bool distinct_rows =
      false;  // of `query`: each different row once (IN (SELECT ...) turned into a join)
  bool keeps_rows = false;    // of `query`: not merged, its order is what the rows come in
  bool expands_rows = false;  // of `calls`: once for each row of all others, in their order
  BoundCte* cte = nullptr;    // or, of a work table, the query that is added to
  int32_t cte_levels_up =
      0;  // the query that has the WITH; its parent is what the CTE's own query sees one level up
  ExpressionList calls;
  std::span<const bool> returns_set;
  bool with_ordinality = false;
  std::string_view function_name;
  std::span<const ExpressionList> rows;  // values
};

// A column of a join with USING or an alias: what the name stands for.
struct JoinOutput {
  std::string_view name;
  const BoundExpression* value = nullptr;  // null: it was dropped since
};

// The shape of FROM: a relation, or a join of two shapes.
struct FromItem {
  int32_t relation = -1;  // >= 0: a relation; else a join
  JoinType join_type = JoinType::inner;
  const FromItem* left = nullptr;
  const FromItem* right = nullptr;
  const BoundExpression* condition = nullptr;  // null: true
  // As it was written, for who shows the query as it was bound; rewrites leave it behind. With
  // USING (NATURAL as well) the condition is the equality of the merged columns, which are the
  // first of `outputs`.
  std::string_view alias;        // of the whole join; hides the names of its sides
  std::string_view using_alias;  // of the merged columns
  int32_t using_columns = 0;
  std::span<const JoinOutput> outputs;  // all columns, if it has USING or an alias
};

struct BoundTarget {
  const BoundExpression* expression = nullptr;
  std::string_view name;
  bool is_junk = false;  // only for ORDER BY, GROUP BY or DISTINCT ON
  Oid table = 0;         // where it is a plain column of a table
  int16_t column_number = 0;
};

struct QuerySortKey {
  int32_t target = 0;
  bool descending = false;
  bool nulls_first = false;
};

enum class QuerySetOperation : uint8_t { none, union_, intersect, except };

// FOR UPDATE and its kin, of one table of the query.
struct BoundRowMark {
  int32_t relation = 0;
  ast::LockStrength strength;
  ast::LockWait wait;
};

struct BoundQuery {
  // Its WITH, in the order written, for who shows the query as it was bound.
  std::span<BoundCte* const> ctes;
  bool with_recursive = false;
  std::span<const BoundRelation*> relations;
  std::span<const FromItem*> from;  // inner-joined with each other
  const BoundExpression* where = nullptr;
  // Visible ones first, in order; then junk.
  std::span<const BoundTarget> targets;
  int32_t visible_targets = 0;
  // Aggregates, GROUP BY or HAVING: targets and having read group keys and aggregates only (or
  // columns that depend on a grouped primary key, which the planner adds to the keys).
  bool is_grouped = false;
  ExpressionList group_by;
  const BoundExpression* having = nullptr;
  bool has_set_returning_targets = false;
  bool distinct = false;
  std::span<const int32_t> distinct_on;  // targets; DISTINCT ON
  std::span<const QuerySortKey> order_by;
  const BoundExpression* limit_count = nullptr;  // int8
  const BoundExpression* limit_offset = nullptr;
  bool with_ties = false;  // of the last row that limit_count lets through, by order_by
  // left and right are queries of as many columns; column i of the result is left_columns[i] and
  // right_columns[i], expressions over columns of relation 0 standing for the side's output.
  // `relations` is empty, targets read relation 0, the result.
  QuerySetOperation set_operation = QuerySetOperation::none;
  bool set_all = false;
  const BoundQuery* left = nullptr;
  const BoundQuery* right = nullptr;
  ExpressionList left_columns;
  ExpressionList right_columns;
  std::span<const BoundRowMark> row_marks;
};

struct BoundAssignment {
  int32_t column = 0;
  const BoundExpression* value = nullptr;
};

// ON CONFLICT. Relation 0 is the table with the row that is there, relation 1 the same with the row
// that was proposed (EXCLUDED).
struct BoundConflict {
  std::span<const IndexDescriptor*> arbiters;
  bool any_index = false;  // none was named: they are all unique indexes
  bool updates = false;    // else DO NOTHING
  std::span<const BoundAssignment> assignments;
  std::span<const BoundAssignment> generated;  // then; over relation 0, the new row
  const BoundExpression* where = nullptr;
  // Of views: what the row that is there must fulfil, over relation 0.
  std::span<const CheckConstraint> visible;
};

// INSERT, UPDATE, DELETE. In `source` of UPDATE and DELETE relation 0 is the target; `values`,
// assignments and returning read the source's relations. For INSERT `values` (one per table column,
// null for dropped and generated ones) reads relation 0: the output columns of `source`, or nothing
// when source is null and one row is inserted; `returning` reads the table as relation 0.
struct BoundModification {
  PlanKind kind = PlanKind::insert;
  const TableDescriptor* table = nullptr;
  std::string_view alias;
  const BoundQuery* source = nullptr;
  ExpressionList values;
  std::span<const BoundAssignment> assignments;
  std::span<const BoundAssignment> generated;  // then; over relation 0, the new row
  std::span<const BoundTarget> returning;
  std::span<const CheckConstraint> checks;  // over relation 0, the table
  std::span<const IndexKeys> index_keys;    // likewise
  const BoundConflict* conflict = nullptr;  // of INSERT
};

struct BoundStatement {
  const BoundQuery* query = nullptr;                // SELECT and VALUES
  const BoundModification* modification = nullptr;  // the others
};

}  // namespace pgsilo
