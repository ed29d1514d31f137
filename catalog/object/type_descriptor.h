// A type that a user made, with the type of its arrays. Thread safety: immutable once published.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "catalog/object/catalog_object.h"
#include "catalog/stored_expression.h"
#include "sql/types/enum_labels.h"
#include "sql/types/user_type.h"

namespace pgsilo {

// A CHECK of a domain, over its value, which is column 1.
struct DomainConstraint {
  Oid oid = invalid_oid;
  std::string name;
  StoredExpression check;
  bool validated = true;  // false: values from before the constraint may break it (NOT VALID)
};

// What a domain has beside what is done with its values.
struct DomainDescriptor {
  Oid base = invalid_oid;  // what it is over, which may be a domain
  int32_t typmod = -1;     // of that
  int32_t dimensions = 0;  // as they were written
  Oid collation = invalid_oid;
  bool not_null = false;
  StoredExpression default_value;             // of the type it is over; empty: none
  std::string default_text;                   // what it was when it was made
  std::vector<DomainConstraint> constraints;  // by name, in which order they are checked

  const DomainConstraint* find_constraint(std::string_view name) const;
};

struct TypeDescriptor final : CatalogObject {
  static constexpr system_oid::Table catalog = system_oid::pg_type;

  Oid array_oid = invalid_oid;
  std::string array_name;
  EnumLabels labels;
  std::shared_ptr<const DomainDescriptor> domain;  // null: it is an enum
  // What is done with its values.
  std::shared_ptr<const UserType> values;

  TypeDescriptor() : CatalogObject(catalog) {}
  std::vector<std::string_view> names() const override { return {name, array_name}; }
  std::shared_ptr<CatalogObject> committed() const override;
};

}  // namespace pgsilo
