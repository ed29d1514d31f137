// The steps that the operations of DataDefinition on relations are made of. Thread safety: none;
// one operation.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/data_definition.h"
#include "catalog/definition/catalog_write.h"
#include "catalog/definition/object_names.h"
#include "catalog/descriptor_builder.h"
#include "catalog/index_evaluator.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

class DefinitionSteps : CatalogWrite {
 public:
  explicit DefinitionSteps(DataDefinition& definition) : CatalogWrite(definition) {}

  // --- the operations (one file per family) ---
  void create_table(const TableDefinition& from, bool if_not_exists,
                    const TableDescriptor** created);
  void drop_tables(std::span<const DataDefinition::ObjectName> names, bool if_exists, bool cascade);
  void drop_indexes(std::span<const DataDefinition::ObjectName> names, bool if_exists,
                    bool cascade);
  void create_index(Oid table, const IndexDefinition& from, bool if_not_exists);
  Oid begin_index(Oid table, const IndexDefinition& from, bool if_not_exists);
  void finish_index(Oid table, Oid index);
  void discard_index(Oid table, Oid index);
  void add_key(Oid table, const IndexDefinition& from);
  void add_check(Oid table, const CheckDefinition& from, RowTransform* check);
  Oid add_foreign_key(Oid table, const ForeignKeyDefinition& from);
  void visit_rows(Oid table, RowTransform& visitor, bool validates);
  void set_validated(Oid table, Oid constraint);
  void set_deferrability(Oid table, Oid constraint, bool deferrable, bool initially_deferred);
  void drop_constraint(Oid table, std::string_view name, bool if_exists, bool cascade);
  void add_column(Oid table, const ColumnDefinition& from, Datum missing, RowTransform* transform,
                  bool if_not_exists);
  void drop_column(Oid table, std::string_view name, bool if_exists, bool cascade);
  void set_column_type(Oid table, std::string_view name, const ColumnTypeDefinition& to,
                       RowTransform* transform);
  void set_default(Oid table, std::string_view name, StoredExpression value);
  void drop_generation(Oid table, std::string_view name, bool if_exists);
  void set_expressions(Oid table, const TableExpressions& expressions);
  void set_not_null(Oid table, std::string_view name, bool not_null);
  void set_statistics_target(Oid table, std::string_view name, int32_t target);
  void set_storage(Oid table, std::string_view name, char storage);
  void set_options(Oid table, std::vector<std::string> options);
  void rewrite_table(Oid oid);
  void truncate(std::span<const Oid> tables, bool restart_identity, bool cascade);
  void rename_relation(Oid relation, std::string_view new_name);
  void rename_column(Oid table, std::string_view name, std::string_view new_name);
  void rename_constraint(Oid table, std::string_view name, std::string_view new_name);
  void create_view(const ViewDefinition& from);
  void drop_views(std::span<const DataDefinition::ObjectName> names, bool if_exists, bool cascade);
  void create_sequence(const NewSequence& from, const SequenceOwner& owner, bool if_not_exists);
  void alter_sequence(Oid sequence, const SequenceOptions& options, const SequenceOwner& owner);
  void drop_sequences(std::span<const DataDefinition::ObjectName> names, bool if_exists,
                      bool cascade);
  void create_column_sequence(Oid table, ColumnDefinition* definition);
  void add_identity(Oid table, std::string_view name, const ColumnSequenceDefinition& from);
  void set_identity(Oid table, std::string_view name, IdentityKind kind,
                    const SequenceOptions& options);
  void drop_identity(Oid table, std::string_view name, bool if_exists);
  void create_statistics(Oid table, const StatisticsDefinition& from);
  void drop_statistics(const StatisticsDescriptor& statistics);
  void alter_statistics(const StatisticsDescriptor& statistics, const StatisticsChange& change);
  void create_schema(std::string_view name, bool if_not_exists);
  void drop_schemas(std::span<const std::string_view> names, bool if_exists, bool cascade);
  void settle_temporary_tables();
  // Of a schema in which nobody else makes or drops anything: all of it, with what depends on it.
  void empty_schema(Oid schema);
  void remove_schema(Oid schema);
  using Types = std::vector<std::shared_ptr<const TypeDescriptor>>;
  // That are locked, with the columns that are of them.
  void drop_found_types(Types types, bool cascade);
  // Locks the table (against everybody else, unless told otherwise). Refuses system tables.
  const TableDescriptor& lock_table(Oid oid, std::initializer_list<LockMode> modes = {
                                                 LockMode::access_exclusive});
  // What an expression names stays while the expression is there.
  void insert_uses(ObjectAddress expression, const ExpressionUses& uses);

 private:
  // A table being changed: a copy of its descriptor, with its indexes apart.
  struct Draft {
    std::shared_ptr<TableDescriptor> table;
    std::vector<std::shared_ptr<const IndexDescriptor>> indexes;
    std::vector<uint8_t> dropped_widths;
  };

  // --- definition_steps.cpp ---
  Draft draft_of(const TableDescriptor& table);
  // An index of a draft, to be changed: a copy in its place.
  static IndexDescriptor& changed(std::shared_ptr<const IndexDescriptor>& index);
  // What pg_class says of sizes: as in PostgreSQL, who builds an index counts the rows, if there
  // are any; and who makes the table anew forgets what was known of it.
  static void count_rows(Draft& draft, const TableDescriptor& old_table);
  static void forget_sizes(Draft& draft);
  // Who has to notice a change: see CatalogRecord in descriptors.h.
  enum class Concerns : uint8_t { everybody, writers };
  // Completes the draft, rewrites the rows that others rest on and shows it to the transaction.
  const TableDescriptor& finish(Draft draft, Concerns concerns = Concerns::everybody);
  // The same for a draft that was given new trees: the pg_class rows of its indexes change too.
  const TableDescriptor& finish_with_new_trees(Draft draft);
  const TableDescriptor& table_of(Oid oid);
  Relation& new_relation(RelationPersistence persistence);
  // Its rows are not needed any more: at commit, or at once if it is the transaction's own.
  void discard_relation(RelationId id, Relation* relation);
  void check_name_free(Oid schema, std::string_view name);
  bool name_taken(Oid schema, std::string_view name) const;

  // --- create_index.cpp ---
  // False, with a notice, if there is something of that name and that is no error.
  bool may_create_index(Oid table, const IndexDefinition& from, bool if_not_exists);
  // With an empty tree, which others cannot see yet.
  const IndexDescriptor& add_index(const TableDescriptor& table, const IndexDefinition& from,
                                   bool valid);

  // --- create_drop.cpp ---
  // 42809: it is of another kind; 42P01, or with `if_exists` a notice and null.
  const TableDescriptor* find_to_drop(RelationKind kind, const DataDefinition::ObjectName& name,
                                      bool if_exists);
  // Tables that are locked and on which nothing depends any more.
  void remove_tables(std::span<const Oid> tables);
  // To a table that is being created, with its sequence.
  void add_column_to(TableDescriptor& table, const ColumnDefinition& from);

  // --- table_parts.cpp ---
  // 42701: of tables; a view's columns may have such names.
  static void refuse_system_column(std::string_view name);
  static void check_column_names(std::span<const ColumnDefinition> columns);
  ColumnDescriptor make_column(const ColumnDefinition& from, int16_t number);
  static const ColumnDescriptor& column_of(const TableDescriptor& table, std::string_view name);
  static ColumnDescriptor& column_of(Draft& draft, std::string_view name);
  // Checks the columns and picks the name. `taken`: of the table's constraints; gets this one's.
  std::shared_ptr<IndexDescriptor> make_index(const TableDescriptor& table,
                                              const IndexDefinition& from, TakenNames& taken);
  static void set_read_columns(const TableDescriptor& table, std::span<const std::string> names,
                               IndexDescriptor& index);
  ConstraintDescriptor make_key_constraint(const IndexDescriptor& index,
                                           const IndexDefinition& from);
  ConstraintDescriptor make_check(const TableDescriptor& table, const CheckDefinition& from,
                                  TakenNames& taken);
  void insert_table_rows(const TableDescriptor& table);
  void insert_index_rows(const TableDescriptor& table, const IndexDescriptor& index);
  void remove_index_rows(const IndexDescriptor& index);
  void insert_constraint_rows(const TableDescriptor& table, const ConstraintDescriptor& constraint);
  void remove_constraint_rows(const ConstraintDescriptor& constraint);
  void insert_default_rows(const TableDescriptor& table, const ColumnDescriptor& column);
  void remove_default_rows(const ColumnDescriptor& column);
  // 42704 if there are no keys of the type.
  static void require_key_form(Oid type);
  // Columns, types and sequences that its expressions name.
  void insert_index_uses(const IndexDescriptor& index);
  void remove_index_uses(const IndexDescriptor& index);
  void remove_uses(ObjectAddress expression, const ExpressionUses& uses);
  // What nobody else rests on.
  void change_column(Oid table, std::string_view name,
                     const std::function<void(ColumnDescriptor&)>& change);
  void update_index_rows(const TableDescriptor& table, int16_t column);
  void replace_default(TableDescriptor& table, ColumnDescriptor& column,
                       const StoredExpression& value);
  void replace_index(Draft& draft, const IndexExpressions& to);
  void replace_check(TableDescriptor& table, Oid constraint, const StoredExpression& condition);
  void remove_table(const TableDescriptor& table);
  // Those that are `which`.
  void remove_indexes(Draft& draft, const std::function<bool(const IndexDescriptor&)>& which);
  void remove_index(Draft& draft, Oid index);
  void rename_index(const TableDescriptor& of_table, Oid index, std::string_view new_name);

  // --- statistics.cpp ---
  void remove_statistics(const StatisticsDescriptor& statistics);
  // Those over the column.
  void remove_statistics_of(Draft& draft, int16_t column);

  // --- views.cpp ---
  void replace_view(const TableDescriptor& old_view, const ViewDefinition& from);
  // Before anything is written: who waits for them is in nobody's way.
  void hold_view_uses(const StoredQuery& query);
  // What the query names stays while the view is there.
  void insert_view_uses(const TableDescriptor& view, const StoredQuery& query);
  void remove_view_uses(const TableDescriptor& view);
  // A view that is locked and on which nothing depends any more.
  void remove_view(const TableDescriptor& view);
  // A view that reads what goes.
  struct ViewUse {
    Oid view;
    std::string needed;  // what it reads: "table t"
    Oid root;            // through which of the things that go
  };
  // What a view may read; of a relation a column, or (0) any, and the whole.
  struct ViewSource {
    ObjectAddress object;
    int16_t column;
    std::string shown;
  };
  // Those of `going` and in `uses` are not added again; behind each come those that read it.
  void add_views_using(const ViewSource& source, Oid root, std::span<const Oid> going,
                       std::vector<ViewUse>* uses) const;
  // 0A000: a generated column reads the column, whose type is to be another.
  static void refuse_if_generated_from(const TableDescriptor& table,
                                       const ColumnDescriptor& column);
  // 0A000: a view reads the column, whose type is to be another.
  void refuse_if_viewed(const TableDescriptor& table, const ColumnDescriptor& column) const;

  // --- foreign_keys.cpp ---
  ConstraintDescriptor make_foreign_key(const TableDescriptor& table,
                                        const TableDescriptor& referenced,
                                        const ForeignKeyDefinition& from);
  // The table named in `reference` does not refer to `referenced` any more, or does from now on.
  // Locks that table.
  void add_reference(Oid referenced, const IncomingReference& reference);
  void remove_reference(Oid referenced, const IncomingReference& reference);
  // The tables that a table (or, `column` not 0, one column of it) refers to are told that this
  // ends. Its own descriptor stays as it is.
  void remove_references_by(Oid table, int16_t column = 0);
  // The column has another type: 42804 where a foreign key cannot compare it any more.
  void check_foreign_keys_of(const TableDescriptor& table, int16_t column);
  void lock_references_of(const TableDescriptor& table, int16_t column);
  // Takes a foreign key out of the draft of its table.
  void remove_foreign_key(Draft& draft, Oid constraint);
  // Those of `table` whose columns, or whose index, are said to go. Number 0: any column.
  std::vector<IncomingReference> references_to(const TableDescriptor& table, int16_t column,
                                               Oid index) const;
  const ConstraintDescriptor& constraint_of(const IncomingReference& reference);
  // Changes one constraint of a table, and its row.
  template <typename Change>
  void change_constraint(Oid table, Oid constraint, Change change);
  // Who refers to the tables goes with them, or is an error.
  std::vector<Oid> with_referring_tables(std::span<const Oid> tables, bool cascade);

  // --- sequences.cpp, identity.cpp ---
  // The sequence's descriptor without its state and owner.
  std::shared_ptr<TableDescriptor> make_sequence(const SchemaDescriptor& schema,
                                                 std::string_view name,
                                                 RelationPersistence persistence);
  void give_new_state(TableDescriptor& sequence, SequenceDescriptor& changed,
                      const SequencePosition& position);
  Oid add_sequence(const SchemaDescriptor& schema, std::string_view name,
                   RelationPersistence persistence, const SequenceOptions& options,
                   SequenceDescriptor owned);
  // The sequence of column `number` of a table, which need not exist yet, with the name that
  // PostgreSQL picks. Sets the column's default or identity.
  void add_column_sequence(const TableDescriptor& table, int16_t number,
                           ColumnDefinition* definition);
  void change_sequence(Oid sequence, const SequenceOptions& options, bool for_identity);
  void set_owner(Oid sequence, const SequenceOwner& owner);
  void restart_sequences(std::span<const Oid> tables);
  void insert_owner_row(const TableDescriptor& sequence);
  void remove_owner_row(const TableDescriptor& sequence);
  void remove_sequence(Oid sequence);
  // Those owned by the table, or (`column` not 0) by one column of it.
  std::vector<Oid> owned_sequences(Oid table, int16_t column = 0) const;
  // --- dependencies.cpp ---
  // What goes with tables, a column, or an index (a key's constraint) that are about to go.
  void drop_dependents_of(std::span<const Oid> tables, bool cascade);
  void drop_dependents_of(const TableDescriptor& table, const ColumnDescriptor& column,
                          bool cascade);
  void drop_dependents_of(const TableDescriptor& table, const IndexDescriptor& index, bool cascade);
  struct Dropped {
    std::string what;  // "table t"; empty: several things
    std::vector<Oid> tables;
    Oid table = invalid_oid;  // of one column
    int16_t column = 0;
    std::vector<Oid> sequences;
    Types types;
    std::vector<IncomingReference> references;  // foreign keys of tables that stay
    Oid constraint = invalid_oid;               // of an index that goes
    std::string referenced;  // what they depend on: "table t"; empty: the table they refer to
    // Tables, sequences and types that nobody has named: they depend on what is dropped.
    struct Content {
      Oid relation;
      std::string schema;
      std::shared_ptr<const TypeDescriptor> type = nullptr;
    };
    std::vector<Content> contents;

    bool has_type(Oid type) const;
  };
  // 2BP01 if an expression that stays names one of the sequences or types, or if there are
  // references; with `cascade` they go. Then the sequences and types go.
  void drop(Dropped dropped, bool cascade);
  // A default or check of a table that stays, which names what goes.
  struct ExpressionUse {
    Oid table;
    int16_t column = 0;            // whose default it is; 0: it is a check or an index
    Oid constraint = invalid_oid;  // which check it is
    Oid index = invalid_oid;       // which index it is, if it is none
    Oid sequence = invalid_oid;    // the first that it names; 0: it names a type
    Oid type = invalid_oid;
  };
  std::vector<ExpressionUse> remaining_uses(const Dropped& dropped) const;
  void add_uses_of(const TableDescriptor& table, const Dropped& dropped,
                   std::vector<ExpressionUse>* uses) const;
  // A column of a table that stays: it is of a type that goes, or generated from a column that
  // does.
  struct TypeUse {
    Oid table;
    std::string column;
    std::shared_ptr<const TypeDescriptor> type = nullptr;
    std::string source = {};  // "column a of table t"
  };
  // Those that are generated from the column.
  void add_generated_from(const TableDescriptor& table, const ColumnDescriptor& column,
                          std::vector<TypeUse>* uses) const;
  std::vector<TypeUse> remaining_type_uses(const Dropped& dropped) const;
  // A domain that is over what goes, or whose default or check names it.
  struct DomainUse {
    std::shared_ptr<const TypeDescriptor> domain;
    std::string constraint;  // of the domain, which stays; empty: the domain goes
    std::string needed;
    bool goes() const { return constraint.empty(); }
  };
  // Domains that go are types that go.
  std::vector<DomainUse> remaining_domain_uses(Dropped* dropped);
  void add_domain_uses(ObjectAddress used, const std::string& needed, Dropped* dropped,
                       std::vector<DomainUse>* uses);
  Dependent dependent(const DomainUse& use);
  std::vector<ViewUse> remaining_view_uses(const Dropped& dropped,
                                           std::span<const TypeUse> type_uses) const;
  Dependent dependent(const TypeUse& use);
  void add_types_of(const SchemaDescriptor& schema, Dropped* dropped);
  Dependent dependent(const ExpressionUse& use);
  Dependent dependent(const IncomingReference& reference, const Dropped& dropped);
  std::vector<Dependent> dependents_of(const Dropped& dropped, std::span<const ExpressionUse> uses,
                                       std::span<const TypeUse> type_uses,
                                       std::span<const ViewUse> view_uses,
                                       std::span<const DomainUse> domain_uses);
  // --- temporary_objects.cpp ---
  bool has_rows(const TableDescriptor& table);
  void delete_temporary_rows(std::span<const Oid> tables);

  // What a schema holds, and what refers to that.
  void add_relations_of(const SchemaDescriptor& schema, Dropped* dropped);
  void add_references_to(Dropped* dropped);
  void drop_expression(const ExpressionUse& use);

  // --- table_rows.cpp ---
  // Visits every row of the table; bytes are valid during the visit.
  void for_each_row(const TableDescriptor& table,
                    const std::function<void(std::string_view key, std::string_view row)>& visit,
                    ReadPurpose purpose = ReadPurpose::plain);
  // Fills the new tree of an index from the rows of the table, which nobody else can change.
  void build_index(const TableDescriptor& table, Oid index);
  // Copies the rows of `old_table` into the new trees of `table` (already complete) and fills all
  // its indexes.
  void rewrite_rows(const TableDescriptor& old_table, const TableDescriptor& table,
                    RowTransform* transform);
  void check_no_nulls(const TableDescriptor& table, std::span<const int16_t> columns);
  // Rows of new trees, many of them (Transaction::load). `rejection` tells the user which one there
  // was twice.
  using Rejection = std::function<void(const RejectedRow&)>;
  void load(Relation& relation, std::string_view key, std::string_view row,
            const Rejection& rejection);
  void finish_load(const Rejection& rejection);
  void require_loaded(TransactionStatus status, const Rejection& rejection);
  struct EntryOf {
    std::string_view row;
    std::string_view primary_key;
  };
  // `key` is memory to encode in.
  void insert_entry(const TableDescriptor& table, const IndexDescriptor& index,
                    IndexEntries& entries, const EntryOf& of, ByteBuffer& key,
                    const Rejection& rejection);
  // New trees for the table and all its indexes; the old ones go.
  void give_new_trees(Draft& draft);
  void give_new_tree(const TableDescriptor& table, IndexDescriptor& index);
  // Finishes the draft with new trees and moves the rows of `old_table` into them. `checked_column`
  // (or 0): the column that `transform` computes.
  void rewrite(Draft draft, const TableDescriptor& old_table, RowTransform* transform,
               int16_t checked_column);
};

}  // namespace pgsilo
