#include "catalog/named_relation.h"

namespace pgsilo {

namespace {

std::string dotted_name(const ast::RangeVar& name) {
  std::string text;
  for (std::string_view part : {name.catalog_name, name.schema_name}) {
    if (!part.empty()) text += concat(part, ".");
  }
  return text + std::string(name.name);
}

}  // namespace

std::string_view schema_of(const ast::RangeVar& name, std::string_view database) {
  if (name.catalog_name.empty() || name.catalog_name == database) return name.schema_name;
  throw SqlError(
      sqlstate::feature_not_supported,
      concat("cross-database references are not implemented: \"", dotted_name(name), "\""));
}

NamedRelation find_relation(const CatalogView& catalog, std::string_view database,
                            const ast::RangeVar& name) {
  std::string_view schema = schema_of(name, database);
  const TableDescriptor* table = catalog.find_table(schema, name.name);
  if (table != nullptr) return {table, nullptr};
  return {nullptr, catalog.find_index(schema, name.name)};
}

NamedRelation require_relation(const CatalogView& catalog, std::string_view database,
                               const ast::RangeVar& name) {
  NamedRelation found = find_relation(catalog, database, name);
  if (found.exists()) return found;
  if (!name.schema_name.empty() && catalog.find_schema(name.schema_name) == nullptr)
    throw undefined_schema(name.schema_name);
  throw undefined_relation(name);
}

const TableDescriptor& require_table(const CatalogView& catalog, std::string_view database,
                                     const ast::RangeVar& name) {
  NamedRelation found = require_relation(catalog, database, name);
  if (found.table != nullptr) return *found.table;
  throw SqlError(sqlstate::wrong_object_type, concat("\"", name.name, "\" is an index"));
}

void require_own_rows(const CatalogView& catalog, const TableDescriptor& table) {
  if (table.persistence != RelationPersistence::temporary) return;
  const SchemaDescriptor* own = catalog.temporary_schema();
  if (own != nullptr && own->oid == table.schema) return;
  throw SqlError(sqlstate::feature_not_supported,
                 "cannot access temporary tables of other sessions");
}

SqlError undefined_relation(const ast::RangeVar& name) {
  std::string shown =
      name.schema_name.empty() ? std::string(name.name) : concat(name.schema_name, ".", name.name);
  return {sqlstate::undefined_table, concat("relation \"", shown, "\" does not exist")};
}

SqlError undefined_schema(std::string_view name) {
  return {sqlstate::invalid_schema_name, concat("schema \"", name, "\" does not exist")};
}

}  // namespace pgsilo
