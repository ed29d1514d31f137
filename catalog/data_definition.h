// The operations behind DDL: they check, write the catalog rows and build the trees inside the
// running transaction, and give the session's CatalogView the new descriptors. Who calls
// (executor/ddl) has resolved the syntax: type names to OIDs, expressions bound once for their
// errors and handed over as text.
//
// Outcomes. What the user got wrong throws SqlError with PostgreSQL's SQLSTATE and text. What the
// engine answers (conflicts, waits, limits) is returned: anything but ok means that the transaction
// cannot commit (Transaction's rules).
//
// Every operation that touches an existing table takes its relation's exclusive lock (DDL waits for
// those who share it; a new index only for those who write) and rewrites the rows of the catalog
// that others rest on (descriptors.h), so that OCC decides it against them. The new descriptors are
// visible to the transaction's later statements at once and to others when CatalogView::committed()
// published them.
//
// Thread safety: none; the session's fiber.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog_view.h"
#include "catalog/comments.h"
#include "catalog/descriptors.h"
#include "catalog/stored_query.h"
#include "sql/sql_error.h"
#include "storage/transaction/abort_reason.h"

namespace pgsilo {

class DefinitionSteps;
class Transaction;
struct TypeContext;

// A sequence that comes with a column: serial (`identity` none) or GENERATED AS IDENTITY.
struct ColumnSequenceDefinition {
  SequenceOptions options;
  IdentityKind identity = IdentityKind::none;
  std::string name;  // empty: chosen as PostgreSQL does
  // Of serial: the default by the sequence that was made.
  std::function<StoredExpression(Oid sequence)> default_of;
};

struct ColumnDefinition {
  std::string name;
  Oid type = invalid_oid;
  int32_t typmod = -1;
  Oid collation = invalid_oid;  // 0: the type's own
  bool not_null = false;
  StoredExpression default_value;
  bool generated = false;             // by `default_value`
  std::vector<int16_t> read_columns;  // that it reads then, by number
  std::optional<ColumnSequenceDefinition> sequence;
  Oid identity_sequence = invalid_oid;  // set by create_column_sequence()
};

struct IndexColumnDefinition {
  std::string column;                                        // of an expression: the name it gets
  std::optional<IndexExpression> expression = std::nullopt;  // without a name
  bool descending = false;
  bool nulls_first = false;
  int position = -1;  // for errors: characters from 1
};

// An index, or a PRIMARY KEY or UNIQUE constraint with the index it brings.
struct IndexDefinition {
  std::string name;  // empty: chosen as PostgreSQL does
  std::vector<IndexColumnDefinition> columns;
  bool unique = false;
  bool primary = false;
  bool is_constraint = false;
  bool nulls_not_distinct = false;
  StoredExpression predicate;
  std::vector<std::string> read_columns;  // that the expressions and the predicate use
  std::vector<std::string> options;
  int position = -1;

  bool computes() const {
    return !predicate.empty() || std::ranges::any_of(columns, [](const auto& each) {
      return each.expression.has_value();
    });
  }
};

// What an index computes from now on.
struct IndexExpressions {
  Oid index = invalid_oid;
  // In place of its expressions, in their order: others, or columns of the table.
  std::vector<IndexColumnDefinition> keys;
  StoredExpression predicate;
  std::vector<std::string> read_columns;  // that the expressions and the predicate use
};

// What ALTER COLUMN TYPE makes of a column.
struct ColumnTypeDefinition {
  Oid type = invalid_oid;
  int32_t typmod = -1;
  StoredExpression default_value;  // what its default is from now on; empty if it has none
  std::vector<std::pair<Oid, StoredExpression>> checks;  // of the constraints that use it, by OID
  std::vector<IndexExpressions> indexes;                 // of the indexes that compute with it
};

struct CheckDefinition {
  std::string name;  // empty: chosen
  StoredExpression condition;
  std::vector<std::string> columns;  // those the expression uses
};

// What expressions of a table are from now on.
struct TableExpressions {
  std::vector<std::pair<int16_t, StoredExpression>> defaults;  // by column number
  std::vector<std::pair<Oid, StoredExpression>> checks;        // by constraint
};

struct ForeignKeyDefinition {
  std::string name;  // empty: chosen as PostgreSQL does
  std::vector<std::string> columns;
  Oid referenced_table = invalid_oid;
  std::vector<std::string> referenced_columns;  // empty: its primary key's
  ReferentialMatch match = ReferentialMatch::simple;
  ReferentialAction on_update = ReferentialAction::no_action;
  ReferentialAction on_delete = ReferentialAction::no_action;
  std::vector<std::string> on_delete_columns;
  bool deferrable = false;
  bool initially_deferred = false;
  bool not_valid = false;
};

struct TableDefinition {
  std::string schema;  // empty: the search path's first
  std::string name;
  RelationPersistence persistence = RelationPersistence::permanent;
  std::optional<OnCommit> on_commit;  // of temporary ones
  std::vector<ColumnDefinition> columns;
  std::vector<IndexDefinition> keys;  // constraints, in the order written
  std::vector<CheckDefinition> checks;
  std::vector<std::string> options;  // "fillfactor=70"
};

struct ViewDefinition {
  std::string_view schema;  // empty: the search path's first
  std::string_view name;
  RelationPersistence persistence = RelationPersistence::permanent;
  std::vector<ColumnDefinition> columns;
  StoredQuery query;
  std::vector<std::string> options;  // "security_barrier=true"
  bool or_replace = false;
};

struct DomainConstraintDefinition {
  std::string name;        // empty: chosen as PostgreSQL does
  StoredExpression check;  // over the value, which is column 1
  bool not_valid = false;
};

struct DomainDefinition {
  Oid base = invalid_oid;
  int32_t typmod = -1;
  int32_t dimensions = 0;
  Oid collation = invalid_oid;
  bool not_null = false;
  StoredExpression default_value;
  std::string default_text;
  std::vector<DomainConstraintDefinition> constraints;
};

// CREATE STATISTICS, in the schema of the table.
struct StatisticsDefinition {
  std::string_view name;
  std::vector<int16_t> columns;  // numbers, ascending
  bool ndistinct = false;
  bool dependencies = false;
  bool common = false;
};

struct StatisticsChange {
  std::string_view name;  // empty: as it is
  std::optional<int32_t> target = std::nullopt;
};

// ALTER TYPE ... ADD VALUE.
struct EnumValueDefinition {
  std::string_view name;
  std::string_view neighbor;  // BEFORE or AFTER it; empty: behind all others
  bool is_after = false;
};

struct NewSequence {
  std::string_view schema;  // empty: the search path's first
  std::string_view name;
  RelationPersistence persistence = RelationPersistence::permanent;
  SequenceOptions options;
};

// OWNED BY of a sequence.
struct SequenceOwner {
  bool given = false;
  Oid table = invalid_oid;  // 0: NONE
  int16_t column = 0;
};

// Lets a caller with a time budget yield and cancel while rows are copied: called once per row, may
// throw.
class RowMonitor {
 public:
  virtual ~RowMonitor() = default;
  virtual void row() = 0;
};

// Computes rows anew while a table is rewritten, or checks them while a constraint is added; throws
// SqlError for a row that breaks it. `values` has a place for every column of the new table: on
// entry the old row's values (new columns null).
class RowTransform {
 public:
  virtual ~RowTransform() = default;
  virtual void apply(std::span<Datum> values) = 0;
};

// Looks at the values that are there when a domain is to allow less.
class DomainValues {
 public:
  virtual ~DomainValues() = default;
  // For the rows of a table, in the order of the tables' OIDs: throws SqlError for a row whose
  // column the domain would not allow.
  virtual std::unique_ptr<RowTransform> visitor(const TableDescriptor& table,
                                                const ColumnDescriptor& column) = 0;
};

class DataDefinition {
 public:
  // `types` prints key values in error details. `monitor` may be null.
  DataDefinition(CatalogView& view, Transaction& transaction, const TypeContext& types,
                 RowMonitor* monitor = nullptr)
      : view_(view), transaction_(transaction), types_(types), monitor_(monitor) {}

  // Notices raised on the way (IF EXISTS, dropped dependents), in order; the caller sends them.
  std::vector<SqlDiagnostic>& notices() { return notices_; }

  // 42P07 when the name is taken, or with `if_not_exists` a notice and ok with *table null.
  TransactionStatus create_table(const TableDefinition& definition, bool if_not_exists,
                                 const TableDescriptor** table = nullptr);

  struct ObjectName {
    std::string_view schema;  // empty: search path
    std::string_view name;
  };
  // All of them are found before any is dropped. 42P01, or with `if_exists` a notice.
  // `cascade`, here and below: what needs them goes as well (foreign keys of other tables, defaults
  // that use sequences of theirs); else 2BP01.
  TransactionStatus drop_tables(std::span<const ObjectName> names, bool if_exists,
                                bool cascade = false);
  TransactionStatus drop_indexes(std::span<const ObjectName> names, bool if_exists,
                                 bool cascade = false);

  // Builds the index from the table's rows, which nobody writes until the transaction ends. 23505
  // if they are not unique.
  TransactionStatus create_index(Oid table, const IndexDefinition& definition, bool if_not_exists);
  // The same in steps, each the whole of a transaction, while others write (docs/index_build.md):
  // an index that is not valid yet (*index 0: there is one of the name already, and that is no
  // error); all rows have their entries now; it came to nothing.
  TransactionStatus begin_index(Oid table, const IndexDefinition& definition, bool if_not_exists,
                                Oid* index);
  TransactionStatus finish_index(Oid table, Oid index);
  TransactionStatus discard_index(Oid table, Oid index);
  // 23505: another row has the key of this one, which a unique index is to be made of.
  [[noreturn]] void raise_not_unique(const TableDescriptor& table, const IndexDescriptor& index,
                                     std::string_view row);
  // PRIMARY KEY, UNIQUE. A primary key moves the rows into a new primary tree and rebuilds every
  // index.
  TransactionStatus add_key(Oid table, const IndexDefinition& definition);
  // `check` sees every row first (null: the table is known to satisfy it).
  TransactionStatus add_check(Oid table, const CheckDefinition& definition, RowTransform* check);
  // Both tables are locked. The rows that are there are not looked at: visit_rows().
  // *constraint receives the new constraint's OID.
  TransactionStatus add_foreign_key(Oid table, const ForeignKeyDefinition& definition,
                                    Oid* constraint);
  // Shows every row to `visitor`, which may throw. `validates`: the rows come as they are, each
  // true at some moment of the call, and nothing of them is registered (VALIDATE CONSTRAINT on a
  // table that others change).
  TransactionStatus visit_rows(Oid table, RowTransform& visitor, bool validates = false);
  // VALIDATE CONSTRAINT: the rows have been found to satisfy it.
  TransactionStatus set_validated(Oid table, Oid constraint);
  // ALTER CONSTRAINT of a foreign key.
  TransactionStatus set_deferrability(Oid table, Oid constraint, bool deferrable,
                                      bool initially_deferred);
  TransactionStatus drop_constraint(Oid table, std::string_view name, bool if_exists,
                                    bool cascade = false);

  // Existing rows read `missing` (a value of the column's type) unless `transform` is given: then
  // they are rewritten, with the new column's value set by it.
  TransactionStatus add_column(Oid table, const ColumnDefinition& definition, Datum missing,
                               RowTransform* transform, bool if_not_exists);
  // Its own sequence goes with it; `cascade` as for drop_tables().
  TransactionStatus drop_column(Oid table, std::string_view column, bool if_exists,
                                bool cascade = false);
  // ALTER COLUMN TYPE: `transform` converts the column in each row; null: the stored bytes stay
  // valid. Whether rows still have what they refer to is for the caller to see.
  TransactionStatus set_column_type(Oid table, std::string_view column,
                                    const ColumnTypeDefinition& to, RowTransform* transform);
  // An empty value: drops it.
  TransactionStatus set_default(Oid table, std::string_view column, const StoredExpression& value);
  // The generated column becomes one that keeps its values. 55000 of others, or a notice.
  TransactionStatus drop_generation(Oid table, std::string_view column, bool if_exists);
  // The same expressions in another form.
  TransactionStatus set_expressions(Oid table, const TableExpressions& expressions);
  TransactionStatus set_not_null(Oid table, std::string_view column, bool not_null);
  TransactionStatus set_statistics_target(Oid table, std::string_view column, int32_t target);
  TransactionStatus set_storage(Oid table, std::string_view column, char storage);
  TransactionStatus set_options(Oid table, std::vector<std::string> options);

  // Stores all rows anew, and no more than they need.
  TransactionStatus rewrite_table(Oid table);
  // `restart_identity`: the tables' own sequences begin anew. 0A000 if a table that stays refers to
  // one of them; with `cascade` it is emptied as well.
  TransactionStatus truncate(std::span<const Oid> tables, bool restart_identity = false,
                             bool cascade = false);

  // --- views ---
  TransactionStatus create_view(const ViewDefinition& definition);
  TransactionStatus drop_views(std::span<const ObjectName> names, bool if_exists, bool cascade);

  // --- extended statistics --- The name is free.
  TransactionStatus create_statistics(Oid table, const StatisticsDefinition& definition);
  TransactionStatus drop_statistics(const StatisticsDescriptor& statistics);
  TransactionStatus alter_statistics(const StatisticsDescriptor& statistics,
                                     const StatisticsChange& change);

  // --- sequences ---
  TransactionStatus create_sequence(const NewSequence& definition, const SequenceOwner& owner,
                                    bool if_not_exists);
  // Anything but a new owner makes a new state, so that it can be rolled back.
  TransactionStatus alter_sequence(Oid sequence, const SequenceOptions& options,
                                   const SequenceOwner& owner);
  TransactionStatus drop_sequences(std::span<const ObjectName> names, bool if_exists, bool cascade);
  // The sequence that `definition` asks for, owned by the column that add_column() will make of it:
  // gives `definition` its default or its identity.
  TransactionStatus create_column_sequence(Oid table, ColumnDefinition* definition);
  // ALTER COLUMN: ADD GENERATED AS IDENTITY, SET GENERATED (`kind` none: as it is) and options,
  // DROP IDENTITY.
  TransactionStatus add_identity(Oid table, std::string_view column,
                                 const ColumnSequenceDefinition& definition);
  TransactionStatus set_identity(Oid table, std::string_view column, IdentityKind kind,
                                 const SequenceOptions& options);
  TransactionStatus drop_identity(Oid table, std::string_view column, bool if_exists);

  // ALTER TABLE/INDEX ... RENAME. `relation` is a table's or an index's OID.
  TransactionStatus rename_relation(Oid relation, std::string_view new_name);
  TransactionStatus rename_column(Oid table, std::string_view column, std::string_view new_name);
  TransactionStatus rename_constraint(Oid table, std::string_view constraint,
                                      std::string_view new_name);

  // --- types ---
  TransactionStatus create_enum(const ObjectName& name, std::span<const std::string_view> labels);
  TransactionStatus add_enum_value(Oid type, const EnumValueDefinition& value, bool if_not_exists);
  TransactionStatus rename_enum_value(Oid type, std::string_view old_name,
                                      std::string_view new_name);
  TransactionStatus rename_type(Oid type, std::string_view new_name);
  // `cascade`: columns of them go as well.
  // An empty text: the object has none any more.
  TransactionStatus set_comment(const CommentAddress& of, std::string_view text);
  TransactionStatus drop_types(std::span<const ObjectName> names, bool if_exists, bool cascade);
  TransactionStatus set_type_schema(Oid type, std::string_view schema);

  // --- domains ---
  TransactionStatus create_domain(const ObjectName& name, const DomainDefinition& definition);
  // As drop_types(); 42809 of other types.
  TransactionStatus drop_domains(std::span<const ObjectName> names, bool if_exists, bool cascade);
  // An empty value: drops it.
  TransactionStatus set_domain_default(Oid domain, const StoredExpression& value,
                                       std::string_view text);
  // `values`: those that are there have to fulfil it (null: they need not). All tables with columns
  // of the domain, or of domains over it, are locked against writers. 0A000: a column has arrays of
  // it.
  TransactionStatus set_domain_not_null(Oid domain, bool not_null, DomainValues* values);
  TransactionStatus add_domain_constraint(Oid domain, const DomainConstraintDefinition& constraint,
                                          DomainValues* values);
  TransactionStatus validate_domain_constraint(Oid domain, std::string_view name,
                                               DomainValues* values);
  TransactionStatus drop_domain_constraint(Oid domain, std::string_view name, bool if_exists);
  TransactionStatus rename_domain_constraint(Oid domain, std::string_view name,
                                             std::string_view new_name);

  // What the commit of a transaction owes the session's temporary tables (ON COMMIT). 0A000: one
  // that is emptied is referred to by one that is not.
  TransactionStatus settle_temporary_tables();
  // All that is in the session's temporary schema.
  TransactionStatus drop_temporary_objects();
  // One that some session has left.
  TransactionStatus drop_temporary_schema(Oid schema);

  TransactionStatus create_schema(std::string_view name, bool if_not_exists);
  TransactionStatus drop_schemas(std::span<const std::string_view> names, bool if_exists,
                                 bool cascade = false);

 private:
  friend class CatalogWrite;
  friend class DefinitionSteps;
  template <typename Steps = DefinitionSteps, typename Operation>
  TransactionStatus run(Operation operation);

  CatalogView& view_;
  Transaction& transaction_;
  const TypeContext& types_;
  RowMonitor* monitor_;
  std::vector<SqlDiagnostic> notices_;
};

}  // namespace pgsilo
