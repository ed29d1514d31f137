// Syntax tree: transaction control, settings, prepared statements, COPY and the rest. See node.h
// for the conventions.
#pragma once

#include "sql/ast/ddl.h"

namespace pgsilo::ast {

struct CopyStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::copy_stmt;
  const RangeVar* relation = nullptr;  // or null: query
  const Node* query = nullptr;
  NameList columns;
  bool is_from = false;
  bool is_program = false;
  std::string_view filename;  // empty: STDIN or STDOUT
  List<DefElem> options;
  const Node* where = nullptr;
};

enum class TransactionKind : uint8_t {
  begin,
  start,
  commit,
  rollback,
  savepoint,
  release,
  rollback_to,
  prepare,
  commit_prepared,
  rollback_prepared
};

struct TransactionStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::transaction_stmt;
  TransactionKind transaction_kind = TransactionKind::begin;
  // begin, start: transaction_isolation (string constant), transaction_read_only and
  // transaction_deferrable (integer)
  List<DefElem> options;
  std::string_view savepoint;
  std::string_view global_id;
  bool chain = false;
};

enum class SetKind : uint8_t {
  value,         // SET name = arguments
  to_default,    // SET name TO DEFAULT
  from_current,  // inside CREATE FUNCTION only
  multi,         // SET TRANSACTION, SET SESSION CHARACTERISTICS: options
  reset,
  reset_all
};

struct SetStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::set_stmt;
  SetKind set_kind = SetKind::value;
  std::string_view
      name;            // "TRANSACTION", "SESSION CHARACTERISTICS", "TRANSACTION SNAPSHOT" for multi
  NodeList arguments;  // Constants; TypeCast for SET TIME ZONE INTERVAL '...'
  List<DefElem> options;  // multi
  bool is_local = false;
};

struct ShowStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::show_stmt;
  std::string_view name;  // "all" for SHOW ALL
};

struct PrepareStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::prepare_stmt;
  std::string_view name;
  List<const TypeName*> types;
  const Node* query = nullptr;
};

struct ExecuteStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::execute_stmt;
  std::string_view name;
  NodeList parameters;
};

struct DeallocateStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::deallocate_stmt;
  std::string_view name;  // empty: ALL
};

enum class DiscardKind : uint8_t { all, plans, sequences, temp };

struct DiscardStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::discard_stmt;
  DiscardKind discard_kind = DiscardKind::all;
};

struct ExplainStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::explain_stmt;
  const Node* query = nullptr;
  List<DefElem> options;
};

struct VacuumTarget {
  const RangeVar* relation = nullptr;
  NameList columns;
};

struct VacuumStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::vacuum_stmt;
  bool is_analyze = false;  // ANALYZE rather than VACUUM
  List<DefElem> options;
  List<VacuumTarget> targets;  // empty: everything
};

struct CheckpointStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::checkpoint_stmt;
};

struct LockStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::lock_stmt;
  List<const RangeVar*> relations;
  int32_t mode = 8;  // PostgreSQL's lock mode numbers: 1 ACCESS SHARE ... 8 ACCESS EXCLUSIVE
  bool nowait = false;
};

struct DeclareCursorStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::declare_cursor_stmt;
  std::string_view name;
  const Node* query = nullptr;
  bool binary = false;
  bool scroll = false;
  bool no_scroll = false;
  bool asensitive = false;
  bool insensitive = false;
  bool with_hold = false;
};

enum class FetchDirection : uint8_t { forward, backward, absolute, relative };

struct FetchStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::fetch_stmt;
  FetchDirection direction = FetchDirection::forward;
  int64_t count = 1;  // INT64_MAX: ALL
  std::string_view portal;
  bool is_move = false;
};

struct ClosePortalStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::close_portal_stmt;
  std::string_view name;  // empty: ALL
};

struct SetConstraintsStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::set_constraints_stmt;
  List<const RangeVar*> constraints;  // empty: ALL
  bool deferred = false;
};

// Correct SQL of PostgreSQL's that we do not run: answered with 0A000 and this name ("CREATE
// VIEW").
struct UnsupportedStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::unsupported_stmt;
  std::string_view feature;
};

}  // namespace pgsilo::ast
