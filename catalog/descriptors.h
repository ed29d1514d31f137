// What the catalog knows about a table, digested from its rows in pg_class, pg_attribute, pg_index,
// pg_constraint and pg_attrdef. A descriptor never changes; DDL makes new ones. Who plans against
// one or writes rows through one holds a CatalogSnapshot that contains it, and rests on a record of
// the catalog (in its read set, or under a lock): every change of a table, its indexes or
// constraints rewrites the table's row of pg_class, on which those rest who write rows, and all but
// a new index that of its row type in pg_type, on which those rest who only read. So OCC decides
// DDL against everything else.
//
// Thread safety: immutable once published.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/strong_id.h"
#include "catalog/key_layout.h"
#include "catalog/object/catalog_object.h"
#include "catalog/object/statistics_descriptor.h"
#include "catalog/row_layout.h"
#include "catalog/sequence/sequence_definition.h"
#include "catalog/statistics/table_statistics_slot.h"
#include "catalog/stored_expression.h"
#include "sql/types/type_oid.h"
#include "sql/types/user_type.h"

namespace pgsilo {

class Relation;
class SequenceState;

// pg_class.relkind, relpersistence
enum class RelationKind : char { table = 'r', index = 'i', sequence = 'S', view = 'v' };
enum class RelationPersistence : char { permanent = 'p', unlogged = 'u', temporary = 't' };

// What the end of a transaction does with a temporary table; known while its session is there.
enum class OnCommit : uint8_t { preserve_rows, delete_rows, drop };

// pg_attribute.attidentity
enum class IdentityKind : char { none = '\0', always = 'a', by_default = 'd' };

struct ColumnDescriptor {
  std::string name;
  int16_t number = 0;      // pg_attribute.attnum, 1-based; column i of a table has number i + 1,
                           // dropped ones included
  Oid type = invalid_oid;  // 0 when dropped
  std::shared_ptr<const UserType> user_type;  // holds what `type` names; null: it is built in
  int32_t typmod = -1;
  Oid collation = invalid_oid;
  bool not_null = false;
  bool dropped = false;
  StoredExpression default_value;  // of the column's type
  Oid default_oid = invalid_oid;   // of its pg_attrdef row
  // GENERATED ALWAYS AS (default_value) STORED, over the row's other columns.
  bool generated = false;
  std::vector<int16_t> read_columns;  // of which it is made (pg_depend), ascending
  IdentityKind identity = IdentityKind::none;
  Oid identity_sequence = invalid_oid;
  int32_t statistics_target = -1;  // ALTER COLUMN SET STATISTICS; -1: default_statistics_target
  char storage = '\0';             // ALTER COLUMN SET STORAGE, which is shown; 0: the type's
  bool has_missing = false;  // rows stored before the column existed read `missing` instead of null
  Datum missing;             // points into missing_bytes
  std::shared_ptr<const std::string>
      missing_bytes;  // shared: copies of a descriptor keep their layout

  bool has_default() const { return !default_value.empty(); }
  bool is_made_of(int16_t other) const {
    return std::ranges::find(read_columns, other) != read_columns.end();
  }
};

struct IndexColumn {
  int16_t number = 0;  // pg_attribute.attnum of the table's column, 1-based; 0: an expression
  bool descending = false;
  bool nulls_first = false;
};

// What an index has in the place of a column. Its own row of pg_attribute says the rest.
struct IndexExpression {
  StoredExpression value;
  std::string name;
  Oid type = invalid_oid;
  std::shared_ptr<const UserType> user_type;  // as ColumnDescriptor's
  int32_t typmod = -1;
  Oid collation = invalid_oid;
};

struct IndexDescriptor {
  Oid oid = invalid_oid;
  Oid table_oid = invalid_oid;
  std::string name;
  // The tree: of the primary key, the table's own primary tree.
  RelationId relation_id;
  Relation* relation = nullptr;
  std::vector<IndexColumn> columns;
  std::vector<IndexExpression> expressions;  // of the columns without a number, in their order
  StoredExpression predicate;                // WHERE: rows of which it is not true have no entry
  // The table's columns that the expressions and the predicate read (pg_depend), ascending.
  std::vector<int16_t> read_columns;
  KeyLayout key;
  bool unique = false;
  bool primary = false;
  bool nulls_not_distinct = false;
  // False: it is being built (docs/index_build.md). Changes of rows keep it, no query uses it, and
  // rows may have no entry yet.
  bool valid = true;
  // It was given an empty tree in place of another: until the table is counted nobody knows how
  // many entries it has (pg_class.reltuples is -1, of a new index 0).
  bool uncounted = false;
  Oid constraint = invalid_oid;  // the PRIMARY KEY or UNIQUE constraint it serves, or 0
  std::vector<std::string> options;

  bool is_primary_tree() const { return primary; }
  bool is_partial() const { return !predicate.empty(); }
  // Its entries are not just columns of all rows: see IndexEvaluator.
  bool computes() const { return !expressions.empty() || is_partial(); }
  // No two rows of the table have the same values in its columns.
  bool is_unique_for_all() const { return unique && valid && !computes(); }
  // Null where the column is one of the table's.
  const IndexExpression* expression_of(size_t position) const;
  // Whether an entry rests on the table's column of that number.
  bool reads(int16_t number) const;
  // All that its expressions and its predicate name.
  ExpressionUses uses() const;
};

// The order of a table's indexes: the primary key's first, then by oid.
inline bool precedes(const IndexDescriptor& left, const IndexDescriptor& right) {
  return left.primary != right.primary ? left.primary : left.oid < right.oid;
}

enum class ConstraintType : char {
  check = 'c',
  foreign_key = 'f',
  primary_key = 'p',
  unique = 'u',
};

// pg_constraint.confupdtype and confdeltype, confmatchtype
enum class ReferentialAction : char {
  no_action = 'a',
  restrict = 'r',
  cascade = 'c',
  set_null = 'n',
  set_default = 'd',
};
enum class ReferentialMatch : char { simple = 's', full = 'f' };

// What a foreign key has beside the columns that refer.
struct ForeignKeyDescriptor {
  Oid referenced_table = invalid_oid;
  std::vector<int16_t> referenced_columns;  // numbers; one for each column that refers
  ReferentialMatch match = ReferentialMatch::simple;
  ReferentialAction on_update = ReferentialAction::no_action;
  ReferentialAction on_delete = ReferentialAction::no_action;
  std::vector<int16_t> on_delete_columns;  // that SET NULL and SET DEFAULT set; empty: all
};

struct ConstraintDescriptor {
  Oid oid = invalid_oid;
  std::string name;
  ConstraintType type = ConstraintType::check;
  std::vector<int16_t> columns;  // numbers
  StoredExpression check;        // of that type: the condition
  Oid index = invalid_oid;       // primary key, unique; foreign key: the referenced table's
  bool deferrable = false;
  bool initially_deferred = false;
  bool validated = true;  // false: rows from before the constraint may break it (NOT VALID)
  std::optional<ForeignKeyDescriptor> foreign_key;  // of that type

  bool has_column(int32_t index) const {  // 0-based
    return std::find(columns.begin(), columns.end(), index + 1) != columns.end();
  }
};

// A foreign key, seen from the table it refers to.
struct IncomingReference {
  Oid table = invalid_oid;  // that refers
  Oid constraint = invalid_oid;
  bool operator==(const IncomingReference&) const = default;
};

struct SequenceDescriptor {
  SequenceDefinition definition;
  std::shared_ptr<SequenceState> state;  // ALTER makes a new one
  // The column it goes with (OWNED BY, serial, identity), or 0.
  Oid owner_table = invalid_oid;
  int16_t owner_column = 0;
  bool is_identity = false;  // it is that column's identity
};

// What a view of a user stands for.
struct ViewDescriptor {
  Oid rule = invalid_oid;  // its row of pg_rewrite
  std::string query;       // as it is there (catalog/stored_query.h)
};

struct TableDescriptor {
  Oid oid = invalid_oid;
  Oid schema = invalid_oid;
  std::string schema_name;
  std::string name;
  Oid row_type = invalid_oid;    // pg_type of its rows
  Oid array_type = invalid_oid;  // and of arrays of them
  RelationKind kind = RelationKind::table;
  RelationPersistence persistence = RelationPersistence::permanent;
  OnCommit on_commit = OnCommit::preserve_rows;
  std::vector<ColumnDescriptor> columns;  // by number - 1, dropped ones included
  RowLayout layout;
  KeyLayout primary_key;   // of the primary tree
  RelationId relation_id;  // the primary tree
  Relation* relation = nullptr;
  std::vector<std::shared_ptr<const IndexDescriptor>> indexes;  // in order (precedes()); those that
                                                                // stay as they are, are shared
  std::vector<ConstraintDescriptor> constraints;                // by oid
  std::vector<IncomingReference> referenced_by;                 // by constraint
  std::vector<std::shared_ptr<const StatisticsDescriptor>> combinations;  // CREATE STATISTICS
  std::vector<std::string> options;                    // reloptions: "fillfactor=90"
  CatalogRecord record;                                // its row of pg_class: who writes rows
  CatalogRecord type_record;                           // its row type's of pg_type: who reads
  std::shared_ptr<const SequenceDescriptor> sequence;  // kind sequence: what it is; else null
  std::shared_ptr<const ViewDescriptor> view;          // kind view, of a user; else null
  // Copies that are the same table share it.
  std::shared_ptr<TableStatisticsSlot> statistics = std::make_shared<TableStatisticsSlot>();

  bool is_system() const { return oid < 16384; }
  bool has_primary_key() const { return !primary_key.is_hidden_row_id(); }
  // Null when there is none.
  const IndexDescriptor* primary_index() const {
    return !indexes.empty() && indexes.front()->primary ? indexes.front().get() : nullptr;
  }
  // The column that is not dropped and has this name, or null.
  const ColumnDescriptor* find_column(std::string_view column_name) const;
  const IndexDescriptor* find_index(Oid index_oid) const;
  const ConstraintDescriptor* find_constraint(std::string_view constraint_name) const;
  const ConstraintDescriptor* find_constraint(Oid constraint_oid) const;
  bool has_foreign_keys() const;
};

struct SchemaDescriptor {
  Oid oid = invalid_oid;
  std::string name;
};

}  // namespace pgsilo
