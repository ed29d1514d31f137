#include "catalog/object/type_descriptor.h"

namespace pgsilo {

std::shared_ptr<CatalogObject> TypeDescriptor::committed() const {
  auto made = std::make_shared<TypeDescriptor>(*this);
  std::vector<EnumLabel> all(labels.all().begin(), labels.all().end());
  for (EnumLabel& label : all) label.is_new = false;
  made->labels = EnumLabels(std::move(all));
  values->set_name(name);
  return made;
}

}  // namespace pgsilo
