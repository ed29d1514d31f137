#include "catalog/named_type.h"

#include "catalog/named_relation.h"

namespace pgsilo {

const TypeInfo* find_named_type(const CatalogView& catalog,
                                std::span<const std::string_view> name) {
  std::string_view schema = name.size() > 1 ? name[name.size() - 2] : std::string_view();
  if (!schema.empty() && catalog.find_schema(schema) == nullptr) throw undefined_schema(schema);
  if (schema.empty() || schema == "pg_catalog") {
    if (const TypeInfo* type = find_type_by_name(name.back())) return type;
  }
  std::shared_ptr<const TypeDescriptor> found = catalog.find_type(schema, name.back());
  if (found == nullptr) return nullptr;
  const UserType& values = *found->values;
  return found->array_name == name.back() ? &values.array_type() : &values.type();
}

}  // namespace pgsilo
