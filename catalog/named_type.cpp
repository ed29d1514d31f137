#include "catalog/named_type.h"

#include "base/arena.h"
#include "catalog/named_relation.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"

namespace pgsilo {

const TypeInfo* find_named_type(const CatalogView& catalog,
                                std::span<const std::string_view> name) {
  std::string_view schema = name.size() > 1 ? name[name.size() - 2] : std::string_view();
  if (!schema.empty() && catalog.find_schema(schema) == nullptr) throw undefined_schema(schema);
  std::shared_ptr<const TypeDescriptor> found = catalog.find_type(schema, name.back());
  bool is_hidden = found != nullptr && schema.empty() && catalog.hides_built_in(*found);
  if ((schema.empty() && !is_hidden) || schema == "pg_catalog") {
    if (const TypeInfo* type = find_type_by_name(name.back())) return type;
  }
  if (found == nullptr) return nullptr;
  const UserType& values = *found->values;
  return found->array_name == name.back() ? &values.array_type() : &values.type();
}

std::string shown_type(const CatalogView& catalog, Oid type) {
  std::shared_ptr<const UserType> user_type = share_user_type(type);
  auto named = user_type != nullptr ? catalog.find_type(user_type->type().oid) : nullptr;
  if (named == nullptr) return format_type(type);
  Arena arena(256);
  std::string name(quote_identifier(named->name, arena));
  if (type == named->array_oid) name += "[]";
  std::string_view words[] = {named->name};
  if (find_named_type(catalog, words) == &named->values->type()) return name;
  return concat(quote_identifier(named->schema_name, arena), ".", name);
}

std::vector<std::shared_ptr<const TypeDescriptor>> domains_of(const CatalogView& catalog,
                                                              Oid type) {
  std::vector<std::shared_ptr<const TypeDescriptor>> domains;
  std::shared_ptr<const UserType> user_type = share_user_type(type);
  while (user_type != nullptr) {
    auto found = catalog.find_type(user_type->type().oid);
    if (found == nullptr || found->domain == nullptr) break;
    domains.push_back(found);
    user_type = share_user_type(found->domain->base);
  }
  return domains;
}

}  // namespace pgsilo
