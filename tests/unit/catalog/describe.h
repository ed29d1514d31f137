// A snapshot as text, so that tests can compare two: everything descriptors say, and which trees
// and records they point at.
#pragma once

#include <map>
#include <sstream>
#include <string>

#include "catalog/catalog_snapshot.h"
#include "catalog/object/type_descriptor.h"

namespace pgsilo::testing {

inline void describe_key(const KeyLayout& key, std::ostream& out) {
  out << (key.unique() ? "unique" : "plain") << (key.nulls_distinct() ? "" : " nulls equal")
      << (key.may_hold_nulls() ? "" : " no nulls") << " (";
  for (size_t i = 0; i < key.columns().size(); ++i) {
    const KeyColumn& column = key.columns()[i];
    out << key.column_numbers()[i] << ":" << column.type->name << (column.nullable ? "?" : "")
        << (column.descending ? " desc" : "") << (column.nulls_first ? " nulls first" : "") << ",";
  }
  out << ")";
}

inline void describe_foreign_key(const ForeignKeyDescriptor& key, std::ostream& out) {
  out << " references " << key.referenced_table;
  for (int16_t column : key.referenced_columns) out << " " << column;
  out << " " << static_cast<char>(key.match) << static_cast<char>(key.on_update)
      << static_cast<char>(key.on_delete);
  for (int16_t column : key.on_delete_columns) out << " sets " << column;
}

inline void describe_table(const TableDescriptor& table, std::ostream& out) {
  out << table.schema_name << "." << table.name << " oid " << table.oid << " types "
      << table.row_type << " " << table.array_type << " kind " << static_cast<char>(table.kind)
      << static_cast<char>(table.persistence) << " relation " << table.relation_id.value()
      << " record " << table.record.record << " " << table.record.tid.value() << " type record "
      << table.type_record.record << " " << table.type_record.tid.value() << "\n";
  for (const std::string& option : table.options) out << "  option " << option << "\n";
  if (table.view != nullptr)
    out << "  rule " << table.view->rule << " '" << table.view->query << "'\n";
  for (const ColumnDescriptor& column : table.columns) {
    out << "  column " << column.number << " " << column.name << " " << column.type << "("
        << column.typmod << ") " << column.collation << (column.not_null ? " not null" : "")
        << (column.dropped ? " dropped" : "") << " default " << column.default_oid << " '"
        << column.default_value.text << "' statistics " << column.statistics_target << " storage "
        << static_cast<int>(column.storage);
    if (column.has_missing) {
      out << " missing ";
      if (type_info(column.type).by_reference) {
        out << column.missing.bytes();
      } else {
        out << column.missing.i64;
      }
    }
    const RowColumn& stored = table.layout.column(static_cast<size_t>(column.number) - 1);
    out << " width " << static_cast<int>(stored.width) << (stored.missing.null ? "" : " fills in")
        << "\n";
  }
  out << "  key ";
  describe_key(table.primary_key, out);
  out << "\n";
  for (const auto& index : table.indexes) {
    out << "  index " << index->oid << " of " << index->table_oid << " " << index->name
        << " relation " << index->relation_id.value() << " " << index->relation
        << (index->valid ? "" : " not valid") << (index->primary ? " primary" : "")
        << (index->unique ? " unique" : "") << " constraint " << index->constraint << " ";
    describe_key(index->key, out);
    for (const std::string& option : index->options) out << " " << option;
    out << "\n";
  }
  for (const ConstraintDescriptor& constraint : table.constraints) {
    out << "  constraint " << constraint.oid << " " << constraint.name << " "
        << static_cast<char>(constraint.type) << " index " << constraint.index << " '"
        << constraint.check.text << "'";
    for (int16_t column : constraint.columns) out << " " << column;
    out << (constraint.deferrable ? " deferrable" : "")
        << (constraint.initially_deferred ? " deferred" : "")
        << (constraint.validated ? "" : " not valid");
    if (constraint.foreign_key) describe_foreign_key(*constraint.foreign_key, out);
    out << "\n";
  }
  for (const IncomingReference& reference : table.referenced_by)
    out << "  referenced by " << reference.table << " " << reference.constraint << "\n";
}

inline void describe_type(const TypeDescriptor& type, std::ostream& out) {
  out << "type " << type.schema_name << "." << type.name << " oid " << type.address.oid << " array "
      << type.array_oid << " " << type.array_name << " owner " << type.owner << " record "
      << type.record.record << " " << type.record.tid.value() << " values " << type.values.get();
  for (const EnumLabel& label : type.labels.all())
    out << " " << label.oid << " " << label.position << " " << label.name << label.is_new;
  if (type.domain != nullptr) {
    const DomainDescriptor& domain = *type.domain;
    out << " over " << domain.base << "(" << domain.typmod << ")[" << domain.dimensions << "] "
        << domain.collation << (domain.not_null ? " not null" : "") << " default '"
        << domain.default_value.text << "' " << domain.default_text;
    for (const DomainConstraint& each : domain.constraints)
      out << " " << each.oid << " " << each.name << " '" << each.check.text << "' "
          << each.validated;
  }
  out << "\n";
}

inline std::string describe(const CatalogSnapshot& snapshot) {
  std::ostringstream out;
  std::map<Oid, std::string> schemas;
  for (const auto& [oid, schema] : snapshot.schemas()) schemas[oid] = schema->name;
  for (const auto& [oid, name] : schemas) out << "schema " << oid << " " << name << "\n";
  std::map<Oid, std::shared_ptr<const TypeDescriptor>> types;
  snapshot.for_each_object([&](const std::shared_ptr<const CatalogObject>& object) {
    types[object->address.oid] = snapshot.find<TypeDescriptor>(object->address.oid);
  });
  for (const auto& [oid, type] : types) describe_type(*type, out);
  std::map<Oid, const TableDescriptor*> tables;
  for (const auto& [oid, table] : snapshot.tables()) tables[oid] = table.get();
  for (const auto& [oid, table] : tables) {
    describe_table(*table, out);
    for (const auto& index : table->indexes) {
      const TableDescriptor* owner = nullptr;
      if (snapshot.find_index(index->oid, &owner) != index.get() || owner != table)
        out << "  cannot find " << index->oid << "\n";
      if (snapshot.find_index(table->schema, index->name, &owner) != index.get() || owner != table)
        out << "  cannot find " << index->name << "\n";
    }
  }
  return out.str();
}

}  // namespace pgsilo::testing
