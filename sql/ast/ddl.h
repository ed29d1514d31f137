// Syntax tree: statements that define things. See node.h for the conventions.
#pragma once

#include "sql/ast/query.h"

namespace pgsilo::ast {

// name = value of WITH (...), COPY options, EXPLAIN options, transaction modes. Words and numbers
// come as a Constant in `argument`, lists of names in `words`; both are empty where no value was
// written.
struct DefElem {
  std::string_view name_space;  // toast.fillfactor
  std::string_view name;
  const Node* argument = nullptr;  // Constant or Star (COPY ... FORCE_QUOTE *), or null
  NameList words;                  // COPY ... FORCE_NULL (a, b)
  int32_t location = -1;
};

enum class DropBehavior : uint8_t { restrict, cascade };

enum class ConstraintKind : uint8_t {
  null_,
  not_null,
  default_,
  identity,
  generated,
  check,
  primary_key,
  unique,
  exclusion,
  foreign_key
};

enum class ForeignKeyAction : uint8_t { no_action, restrict, cascade, set_null, set_default };
enum class ForeignKeyMatch : uint8_t { simple, full, partial };

// A column's or a table's constraint. DEFERRABLE and its kin, which the grammar yields as nodes of
// their own after the constraint they belong to, are folded into it.
struct Constraint : Node {
  static constexpr NodeKind node_kind = NodeKind::constraint;
  ConstraintKind constraint_kind = ConstraintKind::check;
  std::string_view name;             // empty where not written
  const Node* expression = nullptr;  // check, default, generated
  NameList keys;                     // primary key, unique: columns (empty in a column constraint)
  NameList including;
  List<DefElem> options;
  std::string_view using_index;  // ADD PRIMARY KEY USING INDEX name
  bool nulls_not_distinct = false;
  bool no_inherit = false;
  bool deferrable = false;
  bool initially_deferred = false;
  bool not_valid = false;
  bool identity_always = false;  // GENERATED ALWAYS AS IDENTITY
  // foreign key
  const RangeVar* referenced = nullptr;
  NameList foreign_columns;     // empty in a column constraint
  NameList referenced_columns;  // empty: the primary key
  ForeignKeyMatch match = ForeignKeyMatch::simple;
  ForeignKeyAction on_update = ForeignKeyAction::no_action;
  ForeignKeyAction on_delete = ForeignKeyAction::no_action;
  NameList on_delete_columns;  // ON DELETE SET NULL (a)
};

struct ColumnDef : Node {
  static constexpr NodeKind node_kind = NodeKind::column_def;
  std::string_view name;
  const TypeName* type = nullptr;  // null: CREATE TABLE ... OF, and AS's column lists
  const CollateClause* collate = nullptr;
  std::string_view compression;
  std::string_view storage;
  List<const Constraint*> constraints;
};

struct TableLike : Node {
  static constexpr NodeKind node_kind = NodeKind::table_like;
  const RangeVar* relation = nullptr;
  uint32_t options = 0;  // PostgreSQL's CREATE_TABLE_LIKE_ bits
};

struct CreateTableStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::create_table_stmt;
  const RangeVar* relation = nullptr;
  NodeList elements;  // ColumnDef, Constraint, TableLike, in the order written
  List<const RangeVar*> inherits;
  bool is_partition = false;    // PARTITION OF
  bool is_partitioned = false;  // PARTITION BY
  bool of_type = false;         // OF type
  List<DefElem> options;
  OnCommit on_commit = OnCommit::none;
  std::string_view tablespace;
  std::string_view access_method;
  bool if_not_exists = false;
};

// CREATE TABLE AS and SELECT INTO.
struct CreateTableAsStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::create_table_as_stmt;
  const Node* query = nullptr;  // SelectStmt or ExecuteStmt
  const IntoClause* into = nullptr;
  bool is_select_into = false;
  bool is_materialized_view = false;
  bool if_not_exists = false;
};

enum class ViewCheckOption : uint8_t { none, local, cascaded };

struct CreateViewStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::create_view_stmt;
  const RangeVar* view = nullptr;
  NameList columns;
  const Node* query = nullptr;
  List<DefElem> options;
  ViewCheckOption check_option = ViewCheckOption::none;
  bool or_replace = false;
};

enum class ObjectKind : uint8_t {
  table,
  index,
  view,
  materialized_view,
  sequence,
  schema,
  column,
  constraint,
  type,
  domain,
  domain_constraint,
  statistics,
  other
};

struct DropStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::drop_stmt;
  ObjectKind object_kind = ObjectKind::table;  // never `other`: those are UnsupportedStmt
  List<NameList> objects;                      // qualified names
  DropBehavior behavior = DropBehavior::restrict;
  bool missing_ok = false;
  bool concurrently = false;
};

struct IndexElement {
  std::string_view column;           // empty: an expression
  const Node* expression = nullptr;  // or null
  NameList collation;
  NameList opclass;
  bool has_opclass_options = false;
  SortDirection direction = SortDirection::unspecified;
  NullsOrder nulls = NullsOrder::unspecified;
};

struct CreateIndexStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::create_index_stmt;
  std::string_view name;  // empty: choose one
  const RangeVar* relation = nullptr;
  std::string_view access_method;  // "btree" where none was written
  List<IndexElement> elements;
  List<IndexElement> including;
  List<DefElem> options;
  const Node* where = nullptr;
  std::string_view tablespace;
  bool unique = false;
  bool nulls_not_distinct = false;
  bool concurrently = false;
  bool if_not_exists = false;
};

enum class AlterTableKind : uint8_t {
  add_column,
  drop_column,
  set_default,  // expression
  drop_default,
  set_not_null,
  drop_not_null,
  set_type,  // definition's type, expression = USING or null
  add_constraint,
  drop_constraint,
  alter_constraint,  // constraint: its name, and whether it may be deferred
  validate_constraint,
  set_statistics,
  set_storage,
  set_options,  // SET (fillfactor = 90)
  reset_options,
  set_logged,
  set_unlogged,
  change_owner,
  add_identity,  // constraint
  set_identity,  // options of a sequence; GENERATED as "generated", 'a' or 'd'
  drop_identity,
  drop_expression,
  unsupported,  // `feature` names it
};

struct AlterTableCommand {
  AlterTableKind kind = AlterTableKind::unsupported;
  std::string_view name;  // column, constraint or role
  const ColumnDef* column = nullptr;
  const Constraint* constraint = nullptr;
  const Node* expression = nullptr;
  List<DefElem> options;
  DropBehavior behavior = DropBehavior::restrict;
  bool missing_ok = false;   // IF EXISTS, and IF NOT EXISTS for ADD COLUMN
  int32_t target = 0;        // SET STATISTICS
  std::string_view storage;  // SET STORAGE
  std::string_view feature;
};

struct AlterTableStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::alter_table_stmt;
  const RangeVar* relation = nullptr;
  List<AlterTableCommand> commands;
  ObjectKind object_kind = ObjectKind::table;
  bool missing_ok = false;
};

// ALTER TABLE RENAME [COLUMN | CONSTRAINT], ALTER INDEX RENAME, ALTER SEQUENCE RENAME, ALTER TYPE
// RENAME, ALTER DOMAIN RENAME [CONSTRAINT].
struct RenameStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::rename_stmt;
  ObjectKind object_kind = ObjectKind::table;  // what gets the new name
  const RangeVar* relation = nullptr;
  NameList object;                               // of what is no relation, in place of that
  ObjectKind relation_kind = ObjectKind::table;  // of a column: what has it
  std::string_view old_name;                     // column or constraint
  std::string_view new_name;
  bool missing_ok = false;
};

struct TruncateStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::truncate_stmt;
  List<const RangeVar*> relations;
  bool restart_identity = false;
  DropBehavior behavior = DropBehavior::restrict;
};

// COMMENT ON a table, column, index, sequence, type, domain, schema, or constraint, whose own name
// comes last.
struct CommentStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::comment_stmt;
  ObjectKind object_kind = ObjectKind::table;
  NameList object;
  std::string_view comment;  // empty: IS NULL, or no text
};

struct CreateSchemaStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::create_schema_stmt;
  std::string_view name;
  bool if_not_exists = false;
  bool has_elements = false;
};

// CREATE TYPE ... AS ENUM.
struct CreateEnumStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::create_enum_stmt;
  NameList name;
  NameList labels;
};

// ALTER TYPE ... ADD VALUE, RENAME VALUE (old_value not empty).
struct AlterEnumStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::alter_enum_stmt;
  NameList name;
  std::string_view old_value;
  std::string_view new_value;
  std::string_view neighbor;  // BEFORE or AFTER it; empty: behind all others
  bool is_after = false;
  bool if_not_exists = false;
};

struct CreateDomainStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::create_domain_stmt;
  NameList name;
  const TypeName* type = nullptr;
  const CollateClause* collate = nullptr;
  List<const Constraint*> constraints;  // in the order written
};

struct StatisticsElement {
  std::string_view column;  // empty: an expression
  const Node* expression = nullptr;
};

struct CreateStatisticsStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::create_statistics_stmt;
  NameList name;
  NameList kinds;
  List<StatisticsElement> columns;
  const RangeVar* relation = nullptr;  // null: something else
  int32_t relations = 0;               // how many are named
  bool if_not_exists = false;
};

// ALTER STATISTICS ... SET STATISTICS.
struct AlterStatisticsStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::alter_statistics_stmt;
  NameList name;
  int32_t target = 0;
  bool missing_ok = false;
};

enum class AlterDomainKind : uint8_t {
  set_default,
  drop_default,
  set_not_null,
  drop_not_null,
  add_constraint,
  drop_constraint,
  validate_constraint,
};

struct AlterDomainStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::alter_domain_stmt;
  AlterDomainKind change = AlterDomainKind::set_default;
  NameList name;
  std::string_view constraint_name;
  const Node* expression = nullptr;        // the default
  const Constraint* constraint = nullptr;  // that is added
  bool missing_ok = false;
};

// ALTER TYPE ... SET SCHEMA, ALTER DOMAIN ... SET SCHEMA.
struct SetSchemaStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::set_schema_stmt;
  ObjectKind object_kind = ObjectKind::type;
  NameList object;
  std::string_view schema;
};

// ALTER TYPE ... OWNER TO, ALTER DOMAIN ... OWNER TO.
struct ChangeOwnerStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::change_owner_stmt;
  ObjectKind object_kind = ObjectKind::type;
  NameList object;
  std::string_view role;  // empty: CURRENT_USER and its kin
};

// Options by PostgreSQL's names: as, increment, minvalue, maxvalue, start, restart, cache, cycle,
// owned_by; without an argument: NO MINVALUE, NO MAXVALUE, RESTART alone.
struct CreateSequenceStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::create_sequence_stmt;
  const RangeVar* sequence = nullptr;
  List<DefElem> options;
  bool if_not_exists = false;
};

struct AlterSequenceStmt : Node {
  static constexpr NodeKind node_kind = NodeKind::alter_sequence_stmt;
  const RangeVar* sequence = nullptr;
  List<DefElem> options;
  bool missing_ok = false;
};

}  // namespace pgsilo::ast
