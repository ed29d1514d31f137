// Syntax tree: FROM items and the statements that read and write rows. See node.h for the
// conventions.
#pragma once

#include "sql/ast/expressions.h"

namespace pgsilo::ast {

struct SelectStmt;

struct Alias {
  std::string_view name;
  NameList columns;
};

enum class Persistence : uint8_t { permanent, unlogged, temporary };
enum class OnCommit : uint8_t { none, preserve_rows, delete_rows, drop };

struct RangeVar : Node {
  static constexpr NodeKind node_kind = NodeKind::range_var;
  std::string_view catalog_name;  // empty where not written
  std::string_view schema_name;   // empty where not written
  std::string_view name;
  const Alias* alias = nullptr;
  bool only = false;                                 // ONLY t
  Persistence persistence = Persistence::permanent;  // CREATE only
};

struct RangeSubselect : Node {
  static constexpr NodeKind node_kind = NodeKind::range_subselect;
  const SelectStmt* select = nullptr;
  const Alias* alias = nullptr;  // required by PostgreSQL 15, checked by the grammar
  bool lateral = false;
};

struct ColumnDef;

struct RangeFunctionItem {
  const Node* call =
      nullptr;  // FuncCall, or another expression of function form (current_date ...)
  List<const ColumnDef*> column_defs;  // ROWS FROM (f() AS (a int))
};

struct RangeFunction : Node {
  static constexpr NodeKind node_kind = NodeKind::range_function;
  List<RangeFunctionItem> functions;  // one, unless ROWS FROM
  const Alias* alias = nullptr;
  List<const ColumnDef*> column_defs;  // f() AS t(a int, b text)
  bool lateral = false;
  bool with_ordinality = false;
  bool is_rows_from = false;
};

enum class JoinKind : uint8_t {
  inner,
  left,
  full,
  right
};  // CROSS JOIN: inner without a condition

struct JoinExpr : Node {
  static constexpr NodeKind node_kind = NodeKind::join_expr;
  JoinKind join_kind = JoinKind::inner;
  bool natural = false;
  const Node* left = nullptr;
  const Node* right = nullptr;
  NameList using_columns;
  std::string_view using_alias;     // JOIN ... USING (a) AS x
  const Node* condition = nullptr;  // ON, or null
  const Alias* alias = nullptr;     // (a JOIN b) AS x
};

// SELECT a AS name, and RETURNING. Name is empty where none was written.
struct Target {
  std::string_view name;
  const Node* expression = nullptr;
  int32_t location = -1;
};

// A column of INSERT's list, or `column = expression` of UPDATE and ON CONFLICT DO UPDATE.
struct Assignment {
  std::string_view column;
  List<IndirectionStep> indirection;  // a[1], a.field
  const Node* expression =
      nullptr;  // null in INSERT's column list; may be SetToDefault, MultiAssignRef
  int32_t location = -1;
};

enum class CteMaterialize : uint8_t { unspecified, always, never };

struct CommonTableExpr {
  std::string_view name;
  NameList columns;
  CteMaterialize materialize = CteMaterialize::unspecified;
  const Node* query = nullptr;  // SelectStmt, InsertStmt, UpdateStmt or DeleteStmt
  bool has_search_or_cycle = false;
  int32_t location = -1;
};

struct WithClause {
  List<CommonTableExpr> ctes;
  bool recursive = false;
  int32_t location = -1;
};

enum class LockStrength : uint8_t { for_key_share, for_share, for_no_key_update, for_update };
enum class LockWait : uint8_t { block, skip_locked, nowait };

// "FOR UPDATE", as messages call the clause.
constexpr std::string_view lock_clause_name(LockStrength strength) {
  constexpr std::string_view names[] = {"FOR KEY SHARE", "FOR SHARE", "FOR NO KEY UPDATE",
                                        "FOR UPDATE"};
  return names[static_cast<int>(strength)];
}

struct LockingClause {
  List<const RangeVar*> relations;  // OF list; empty: all
  LockStrength strength = LockStrength::for_update;
  LockWait wait = LockWait::block;
};

enum class SetOperation : uint8_t { none, union_, intersect, except };

// SELECT ... INTO name: see CreateTableAsStmt.
struct IntoClause {
  const RangeVar* relation = nullptr;
  NameList columns;
  List<struct DefElem> options;
  OnCommit on_commit = OnCommit::none;
  bool with_no_data = false;
};

// One of: a plain SELECT; VALUES (values_lists not empty); a set operation (operation != none, left
// and right set). ORDER BY, LIMIT, WITH and FOR UPDATE may stand on each of them.
struct SelectStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::select_stmt;
  bool distinct = false;  // SELECT DISTINCT [ON (distinct_on)]
  NodeList distinct_on;
  List<Target> targets;
  NodeList from;
  const Node* where = nullptr;
  NodeList group_by;  // expressions and GroupingSets
  bool group_distinct = false;
  const Node* having = nullptr;
  List<WindowDef> windows;
  List<NodeList> values_lists;
  List<SortBy> order_by;
  const Node* limit_offset = nullptr;
  const Node* limit_count = nullptr;  // null: none; LIMIT ALL is a null constant
  bool with_ties = false;
  List<LockingClause> locking;
  const WithClause* with = nullptr;
  const IntoClause* into = nullptr;
  SetOperation operation = SetOperation::none;
  bool all = false;
  const SelectStmt* left = nullptr;
  const SelectStmt* right = nullptr;
};

struct IndexElement;

struct OnConflict {
  bool do_update = false;
  List<IndexElement> inference;  // ON CONFLICT (a, b)
  const Node* inference_where = nullptr;
  std::string_view constraint_name;  // ON CONFLICT ON CONSTRAINT name
  bool has_target = false;           // whether a target was written at all
  List<Assignment> assignments;
  const Node* where = nullptr;
  int32_t location = -1;
  int32_t target_location = -1;
};

enum class Overriding : uint8_t { unspecified, user_value, system_value };

struct InsertStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::insert_stmt;
  const RangeVar* relation = nullptr;
  List<Assignment> columns;            // empty: all of the table
  const SelectStmt* source = nullptr;  // null: DEFAULT VALUES
  const OnConflict* on_conflict = nullptr;
  List<Target> returning;
  const WithClause* with = nullptr;
  Overriding overriding = Overriding::unspecified;
};

struct UpdateStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::update_stmt;
  const RangeVar* relation = nullptr;
  List<Assignment> assignments;
  NodeList from;
  const Node* where = nullptr;
  List<Target> returning;
  const WithClause* with = nullptr;
};

struct DeleteStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::delete_stmt;
  const RangeVar* relation = nullptr;
  NodeList using_items;
  const Node* where = nullptr;
  List<Target> returning;
  const WithClause* with = nullptr;
};

}  // namespace pgsilo::ast
