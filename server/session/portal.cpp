#include "server/session/portal.h"

#include "base/memory_budget.h"
#include "executor/execution.h"
#include "executor/held_rows.h"
#include "server/limits.h"
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
  portal->number = next_number_++;
  if (name.empty()) {
    unnamed_ = std::move(portal);
    return;
  }
  if (named_.size() >= limits::free_portals) require_room(limits::portal_bytes);
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

void Portals::remove_since(uint64_t number) {
  if (unnamed_ != nullptr && unnamed_->number >= number) unnamed_ = nullptr;
  std::erase_if(named_, [number](const auto& entry) { return entry.second->number >= number; });
}

void Portals::end_since(uint64_t number) {
  auto end = [number](Portal* portal) {
    if (portal == nullptr || portal->number < number) return;
    portal->execution.reset();
    portal->held.reset();
    portal->inner.reset();
    portal->plan.reset();
    portal->parameters = {};
    portal->memory.reset();
    portal->state = Portal::State::ended;
  };
  end(unnamed_.get());
  for (const auto& [name, portal] : named_) end(portal.get());
}

void Portals::clear() {
  unnamed_ = nullptr;
  named_.clear();
}

}  // namespace pgsilo
