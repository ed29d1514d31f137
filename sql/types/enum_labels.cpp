#include "sql/types/enum_labels.h"

#include <algorithm>
#include <numeric>

namespace pgsilo {

EnumLabels::EnumLabels(std::vector<EnumLabel> labels) : labels_(std::move(labels)) {
  std::ranges::sort(labels_, {}, &EnumLabel::position);
  by_name_.resize(labels_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0);
  std::ranges::sort(by_name_, {},
                    [this](uint32_t place) -> const std::string& { return labels_[place].name; });
}

const EnumLabel* EnumLabels::find(std::string_view name) const {
  auto name_of = [this](uint32_t place) -> std::string_view { return labels_[place].name; };
  auto found = std::ranges::lower_bound(by_name_, name, {}, name_of);
  if (found == by_name_.end() || name_of(*found) != name) return nullptr;
  return &labels_[*found];
}

const EnumLabel* EnumLabels::at(int32_t position) const {
  auto found = std::ranges::lower_bound(labels_, position, {}, &EnumLabel::position);
  return found != labels_.end() && found->position == position ? &*found : nullptr;
}

}  // namespace pgsilo
