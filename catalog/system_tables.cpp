#include "catalog/system_tables.h"

#include "catalog/builtin/builtin.h"
#include "sql/internal_error.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

constexpr SystemColumnInfo system_columns[] = {
#define SYSTEM_TABLE(oid, name, row_type, array_type)
#define SYSTEM_COLUMN(table, name, type, not_null, dimensions) {#name, type, not_null, dimensions},
#define SYSTEM_INDEX(oid, name, table, primary, unique, ...)
#include "catalog/builtin/system_tables.def"
#undef SYSTEM_TABLE
#undef SYSTEM_COLUMN
#undef SYSTEM_INDEX
};

constexpr SystemIndexInfo system_indexes[] = {
#define SYSTEM_TABLE(oid, name, row_type, array_type)
#define SYSTEM_COLUMN(table, name, type, not_null, dimensions)
#define SYSTEM_INDEX(oid, name, table, primary, unique, ...) \
  {oid, #name, table, primary, unique, {__VA_ARGS__}},
#include "catalog/builtin/system_tables.def"
#undef SYSTEM_TABLE
#undef SYSTEM_COLUMN
#undef SYSTEM_INDEX
};

struct ToldColumn {
  SystemColumn column;
  Oid procedure;
};
constexpr ToldColumn told_columns[] = {
#define SYSTEM_TABLE(oid, name, row_type, array_type)
#define SYSTEM_COLUMN(table, name, type, not_null, dimensions)
#define SYSTEM_COLUMN_TOLD(table, name, procedure) {table##_##name, procedure},
#define SYSTEM_INDEX(oid, name, table, primary, unique, ...)
#include "catalog/builtin/system_tables.def"
#undef SYSTEM_TABLE
#undef SYSTEM_COLUMN
#undef SYSTEM_INDEX
};

// How many columns each table has, counted by name: the k-th column belongs to the table whose
// lines it stands between.
constexpr std::string_view column_tables[] = {
#define SYSTEM_TABLE(oid, name, row_type, array_type)
#define SYSTEM_COLUMN(table, name, type, not_null, dimensions) #table,
#define SYSTEM_INDEX(oid, name, table, primary, unique, ...)
#include "catalog/builtin/system_tables.def"
#undef SYSTEM_TABLE
#undef SYSTEM_COLUMN
#undef SYSTEM_INDEX
};

constexpr uint16_t first_column_of(std::string_view table) {
  uint16_t column = 0;
  while (column_tables[column] != table) ++column;
  return column;
}

constexpr std::span<const SystemColumnInfo> columns_of(std::string_view table) {
  size_t first = first_column_of(table);
  size_t last = first;
  while (last < std::size(column_tables) && column_tables[last] == table) ++last;
  return {system_columns + first, last - first};
}

constexpr SystemTableInfo system_tables[] = {
#define SYSTEM_TABLE(oid, name, row_type, array_type) \
  {oid, #name, row_type, array_type, first_column_of(#name), columns_of(#name)},
#define SYSTEM_COLUMN(table, name, type, not_null, dimensions)
#define SYSTEM_INDEX(oid, name, table, primary, unique, ...)
#include "catalog/builtin/system_tables.def"
#undef SYSTEM_TABLE
#undef SYSTEM_COLUMN
#undef SYSTEM_INDEX
};

RowLayout make_layout(const SystemTableInfo& info) {
  std::vector<RowColumn> columns;
  for (const SystemColumnInfo& column : info.columns) {
    const TypeInfo& type = type_info(column.type);
    RowColumn row_column;
    row_column.type = &type;
    row_column.width = stored_width(type);
    columns.push_back(row_column);
  }
  return RowLayout(std::move(columns));
}

KeyLayout make_key(const SystemTableInfo& info, const SystemIndexInfo& index) {
  std::vector<KeyColumn> columns;
  std::vector<uint16_t> numbers;
  bool may_hold_nulls = false;
  for (int16_t number : index.columns) {
    if (number == 0) break;
    const SystemColumnInfo& column = info.columns[static_cast<size_t>(number) - 1];
    // As make_index_key() does for every table: SQL reads these trees by the same keys.
    columns.push_back({&type_info(column.type), !index.primary, false, false});
    numbers.push_back(static_cast<uint16_t>(number - 1));
    may_hold_nulls |= !column.not_null;
  }
  return KeyLayout(std::move(columns), std::move(numbers), index.unique, true, may_hold_nulls);
}

}  // namespace

std::span<const SystemTableInfo> all_system_tables() { return system_tables; }
std::span<const SystemIndexInfo> all_system_indexes() { return system_indexes; }

const BuiltinProcedure* telling_procedure(Oid table, size_t column) {
  for (const SystemTableInfo& info : system_tables) {
    if (info.oid != table) continue;
    for (const ToldColumn& told : told_columns) {
      if (told.column != info.first_column + column) continue;
      const BuiltinProcedure* procedure = find_procedure(told.procedure);
      PGSILO_REQUIRE(procedure != nullptr);
      return procedure;
    }
  }
  return nullptr;
}

SystemTable::SystemTable(const SystemTableInfo& info) : info_(info), layout_(make_layout(info)) {
  for (const SystemIndexInfo& index : system_indexes) {
    if (index.table != info.oid) continue;
    if (index.primary) {
      primary_key_ = make_key(info, index);
    } else {
      secondary_.push_back({RelationId(index.oid), make_key(info, index)});
    }
  }
}

SystemTables::SystemTables() {
  for (const SystemTableInfo& info : system_tables) tables_.emplace_back(info);
}

const SystemTable& SystemTables::table(system_oid::Table oid) const {
  for (const SystemTable& table : tables_) {
    if (table.info().oid == oid) return table;
  }
  PGSILO_REQUIRE(false);
}

}  // namespace pgsilo
