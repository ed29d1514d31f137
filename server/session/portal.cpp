#include "server/session/portal.h"

#include "executor/execution.h"
#include "sql/sql_error.h"

namespace pgsilo {

Portal::Portal() = default;
Portal::~Portal() = default;

std::shared_ptr<Portal> Portals::find(std::string_view name) const {
  if (name.empty()) return unnamed_;
  auto found = named_.find(name);
  return found == named_.end() ? nullptr : found->second;
}

void Portals::add(std::string_view name, std::shared_ptr<Portal> portal) {
  if (name.empty()) {
    unnamed_ = std::move(portal);
    return;
  }
  if (!named_.emplace(name, std::move(portal)).second) {
    throw SqlError(sqlstate::duplicate_cursor, concat("cursor \"", name, "\" already exists"));
  }
}

void Portals::remove(std::string_view name) {
  if (name.empty()) {
    unnamed_ = nullptr;
    return;
  }
  if (auto found = named_.find(name); found != named_.end()) named_.erase(found);
}

void Portals::clear() {
  unnamed_ = nullptr;
  named_.clear();
}

}  // namespace pgsilo
