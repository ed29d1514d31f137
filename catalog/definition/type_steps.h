// CREATE, ALTER and DROP TYPE. Thread safety: none; one operation.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "catalog/definition/catalog_write.h"
#include "catalog/object/type_descriptor.h"

namespace pgsilo {

class TypeSteps : CatalogWrite {
 public:
  explicit TypeSteps(DataDefinition& definition) : CatalogWrite(definition) {}

  void create_enum(const DataDefinition::ObjectName& name,
                   std::span<const std::string_view> labels);
  void add_enum_value(Oid type, const EnumValueDefinition& value, bool if_not_exists);
  void rename_enum_value(Oid type, std::string_view old_name, std::string_view new_name);
  void rename_type(Oid type, std::string_view new_name);
  // `domains`: 42809 of others.
  void drop_types(std::span<const DataDefinition::ObjectName> names, bool if_exists, bool cascade,
                  bool domains = false);
  void set_schema(Oid type, std::string_view schema);

 private:
  std::shared_ptr<const TypeDescriptor> find_to_drop(const DataDefinition::ObjectName& name,
                                                     bool if_exists, bool domains);
};

}  // namespace pgsilo
