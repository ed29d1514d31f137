// Descriptors to catalog rows: what pg_class and its kin say about a table, with PostgreSQL 15's
// columns. The way back is catalog_loader.h; tests hold the two against each other. Thread safety:
// none. Rows point into the arena and into the descriptors they were made from.
#pragma once

#include "base/arena.h"
#include "catalog/builtin/builtin.h"
#include "catalog/descriptors.h"
#include "catalog/object/type_descriptor.h"
#include "catalog/system_row.h"

namespace pgsilo {

class CatalogRows {
 public:
  CatalogRows(const SystemTables& tables, Arena& arena) : tables_(tables), arena_(arena) {}

  SystemRow class_of(const TableDescriptor& table);
  SystemRow class_of(const TableDescriptor& table, const IndexDescriptor& index);
  SystemRow attribute(const TableDescriptor& table, const ColumnDescriptor& column);
  // Column number `position` + 1 of the index itself.
  SystemRow attribute(const TableDescriptor& table, const IndexDescriptor& index, size_t position);
  SystemRow index(const TableDescriptor& table, const IndexDescriptor& index);
  SystemRow constraint(const TableDescriptor& table, const ConstraintDescriptor& constraint);
  SystemRow constraint(const TypeDescriptor& type, const DomainConstraint& constraint);
  SystemRow default_expression(const TableDescriptor& table, const ColumnDescriptor& column);
  SystemRow sequence(const TableDescriptor& sequence);
  SystemRow statistics(const StatisticsDescriptor& statistics);
  // pg_rewrite: of a user's view.
  SystemRow rule(const TableDescriptor& view);
  // The row of pg_depend: object `object` of `catalog` goes with, or needs, column `column` (0: the
  // whole) of a relation. `type`: pg_depend.deptype.
  SystemRow dependency(ObjectAddress object, ObjectAddress referenced, int16_t column, char type);
  // pg_type: of the table's rows, of arrays of them, and of a built-in type.
  SystemRow row_type(const TableDescriptor& table);
  SystemRow array_type(const TableDescriptor& table, std::string_view name);
  SystemRow builtin_type(const TypeInfo& type);
  SystemRow user_type(const TypeDescriptor& type);
  SystemRow array_type(const TypeDescriptor& type);
  SystemRow enum_label(const TypeDescriptor& type, const EnumLabel& label);
  SystemRow procedure(const BuiltinProcedure& procedure);
  SystemRow schema(const SchemaDescriptor& schema, Oid owner);

 private:
  SystemRow row(system_oid::Table table) { return SystemRow(tables_.table(table)); }
  void set_foreign_key(SystemRow& to, const ForeignKeyDescriptor& key);
  SystemRow empty_class(Oid oid, std::string_view name, const TableDescriptor& table);
  SystemRow empty_attribute(Oid relation, std::string_view name, int16_t number,
                            const TypeInfo* type);
  SystemRow empty_constraint(Oid oid, std::string_view name, Oid schema);
  SystemRow empty_type(Oid oid, std::string_view name, Oid schema);
  Datum texts(std::span<const std::string> texts);
  Datum numbers(std::span<const int16_t> numbers, int32_t lower_bound);
  Datum oids(std::span<const Oid> oids);

  const SystemTables& tables_;
  Arena& arena_;
};

// The name of a dropped column in pg_attribute.
std::string dropped_column_name(int16_t number);

}  // namespace pgsilo
