// A type that a user made, with the type of its arrays. Thread safety: immutable once published.
#pragma once

#include <memory>
#include <string>

#include "catalog/object/catalog_object.h"
#include "sql/types/enum_labels.h"
#include "sql/types/user_type.h"

namespace pgsilo {

struct TypeDescriptor final : CatalogObject {
  static constexpr system_oid::Table catalog = system_oid::pg_type;

  Oid array_oid = invalid_oid;
  std::string array_name;
  EnumLabels labels;
  // What is done with its values.
  std::shared_ptr<const UserType> values;

  TypeDescriptor() : CatalogObject(catalog) {}
  std::vector<std::string_view> names() const override { return {name, array_name}; }
  std::shared_ptr<CatalogObject> committed() const override;
};

}  // namespace pgsilo
