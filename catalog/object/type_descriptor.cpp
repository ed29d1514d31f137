#include "catalog/object/type_descriptor.h"

#include <algorithm>

namespace pgsilo {

const DomainConstraint* DomainDescriptor::find_constraint(std::string_view name) const {
  auto found = std::ranges::find(constraints, name, &DomainConstraint::name);
  return found != constraints.end() ? &*found : nullptr;
}

std::shared_ptr<CatalogObject> TypeDescriptor::committed() const {
  auto made = std::make_shared<TypeDescriptor>(*this);
  std::vector<EnumLabel> all(labels.all().begin(), labels.all().end());
  for (EnumLabel& label : all) label.is_new = false;
  made->labels = EnumLabels(std::move(all));
  values->set_name(name);
  return made;
}

}  // namespace pgsilo
