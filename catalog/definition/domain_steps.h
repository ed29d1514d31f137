// CREATE and ALTER DOMAIN. Thread safety: none; one operation.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "catalog/definition/definition_steps.h"
#include "catalog/object/type_descriptor.h"

namespace pgsilo {

class DomainSteps : CatalogWrite {
 public:
  explicit DomainSteps(DataDefinition& definition) : CatalogWrite(definition), steps_(definition) {}

  void create(const DataDefinition::ObjectName& name, const DomainDefinition& from);
  void set_default(Oid domain, const StoredExpression& value, std::string_view text);
  void set_not_null(Oid domain, bool not_null, DomainValues* values);
  void add_constraint(Oid domain, const DomainConstraintDefinition& from, DomainValues* values);
  void validate_constraint(Oid domain, std::string_view name, DomainValues* values);
  void drop_constraint(Oid domain, std::string_view name, bool if_exists);
  void rename_constraint(Oid domain, std::string_view name, std::string_view new_name);

 private:
  // What a draft's domain becomes.
  static DomainDescriptor& changed(TypeDescriptor& draft);
  DomainConstraint make_constraint(const TypeDescriptor& type,
                                   const DomainConstraintDefinition& from);
  void insert_constraint_rows(const TypeDescriptor& type, const DomainConstraint& constraint);
  // What the domain is over and what its default names stay while it is there.
  void insert_uses(const TypeDescriptor& type);
  // Shows the values that there are to `values`; nobody writes others until the transaction ends.
  void visit_values(const TypeDescriptor& type, DomainValues& values);
  // The tables with columns of the domain, or of domains over it.
  std::vector<Oid> tables_of(Oid domain, std::vector<Oid>* domains);

  DefinitionSteps steps_;
};

}  // namespace pgsilo
