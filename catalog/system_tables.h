// The catalog's own tables: their columns and indexes as constant data (builtin/system_tables.def),
// and the layouts with which their rows and keys are read and written. A system table's or index's
// RelationId equals its OID, so that recovery finds the trees before any row is read.
//
// Thread safety: immutable after construction.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/strong_id.h"
#include "catalog/key_layout.h"
#include "catalog/row_layout.h"
#include "sql/types/type_oid.h"

namespace pgsilo {

struct BuiltinProcedure;

// Every column of every system table, in the order of the data: `pg_class_relname` and so on.
enum SystemColumn : uint16_t {
#define SYSTEM_TABLE(oid, name, row_type, array_type)
#define SYSTEM_COLUMN(table, name, type, not_null, dimensions) table##_##name,
#define SYSTEM_INDEX(oid, name, table, primary, unique, ...)
#include "catalog/builtin/system_tables.def"
#undef SYSTEM_TABLE
#undef SYSTEM_COLUMN
#undef SYSTEM_INDEX
};

namespace system_oid {
// Tables.
enum Table : Oid {
#define SYSTEM_TABLE(oid, name, row_type, array_type) name = oid,
#define SYSTEM_COLUMN(table, name, type, not_null, dimensions)
#define SYSTEM_INDEX(oid, name, table, primary, unique, ...)
#include "catalog/builtin/system_tables.def"
#undef SYSTEM_TABLE
#undef SYSTEM_COLUMN
#undef SYSTEM_INDEX
};
// Rows of the catalog that other rows refer to.
inline constexpr Oid schema_pg_catalog = 11;
inline constexpr Oid schema_pg_toast = 99;
inline constexpr Oid schema_public = 2200;
inline constexpr Oid schema_information_schema = 13207;
inline constexpr Oid language_internal = 12;
inline constexpr Oid role_postgres = 10;
inline constexpr Oid role_database_owner = 6171;
inline constexpr Oid access_method_heap = 2;
inline constexpr Oid access_method_btree = 403;
inline constexpr Oid collation_default = 100;
inline constexpr Oid collation_c = 950;
inline constexpr Oid database_postgres = 5;
}  // namespace system_oid

struct SystemColumnInfo {
  std::string_view name;
  Oid type;
  bool not_null;
  int32_t dimensions;
};

struct SystemIndexInfo {
  static constexpr size_t max_columns = 6;
  Oid oid;
  std::string_view name;
  Oid table;
  bool primary;
  bool unique;
  std::array<int16_t, max_columns> columns;  // attribute numbers; 0 behind the last
};

struct SystemTableInfo {
  Oid oid;
  std::string_view name;
  Oid row_type;
  Oid array_type;
  uint16_t first_column;  // SystemColumn
  std::span<const SystemColumnInfo> columns;
};

std::span<const SystemTableInfo> all_system_tables();
std::span<const SystemIndexInfo> all_system_indexes();
// What tells a column of a system table (0-based) of the row's OID; null: the row itself.
const BuiltinProcedure* telling_procedure(Oid table, size_t column);

class SystemTable {
 public:
  explicit SystemTable(const SystemTableInfo& info);

  const SystemTableInfo& info() const { return info_; }
  RelationId relation_id() const { return RelationId(info_.oid); }
  const RowLayout& layout() const { return layout_; }
  const KeyLayout& primary_key() const { return primary_key_; }
  struct Index {
    RelationId relation_id;
    KeyLayout key;
  };
  std::span<const Index> secondary_indexes() const { return secondary_; }

  // A column of an encoded row.
  Datum get(std::string_view row, SystemColumn column) const {
    return layout_.get_unpadded(row, column - info_.first_column);
  }

 private:
  SystemTableInfo info_;
  RowLayout layout_;
  KeyLayout primary_key_;
  std::vector<Index> secondary_;
};

class SystemTables {
 public:
  SystemTables();
  const SystemTable& table(system_oid::Table oid) const;
  std::span<const SystemTable> all() const { return tables_; }

 private:
  std::vector<SystemTable> tables_;
};

}  // namespace pgsilo
