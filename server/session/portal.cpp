#include "server/session/portal.h"

#include <iterator>

#include "base/memory_budget.h"
#include "executor/execution.h"
#include "executor/held_rows.h"
#include "server/limits.h"
#include "sql/sql_error.h"

namespace pgsilo {

Portal::Portal() = default;
Portal::~Portal() = default;

size_t Portal::parameter_bytes() const {
  return (memory ? memory->bytes_reserved() : 0) + parameters.capacity() * sizeof(Datum);
}

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
  if (named_.contains(name))
    throw SqlError(sqlstate::duplicate_cursor, concat("cursor \"", name, "\" already exists"));
  PreparedStatement& statement = *portal->statement;
  size_t bytes = limits::portal_bytes + name.size() + portal->parameter_bytes() +
                 portal->result_formats.capacity() * sizeof(WireFormat);
  size_t statement_bytes = statement.portals == 0 ? statement.bytes() : statement.portals_bytes;
  require_room_for(statement.portals == 0 ? bytes + statement_bytes : bytes);
  Portal& added = *named_.emplace(name, std::move(portal)).first->second;
  count(added, bytes);
  if (statement.portals++ == 0) {
    statement.portals_bytes = statement_bytes;
    named_bytes_ += statement_bytes;
  }
}

void Portals::require_room_for(size_t bytes) const {
  if (named_bytes_ + bytes > limits::free_portal_bytes) require_room(bytes);
}

// It takes so much from here on.
void Portals::count(Portal& portal, size_t bytes) {
  named_bytes_ -= portal.counted_bytes;
  named_bytes_ += bytes;
  portal.counted_bytes = bytes;
}

Portals::Named::iterator Portals::erase(Named::iterator place) {
  Portal& portal = *place->second;
  count(portal, 0);
  PreparedStatement& statement = *portal.statement;
  if (--statement.portals == 0) named_bytes_ -= statement.portals_bytes;
  return named_.erase(place);
}

void Portals::remove(std::string_view name) {
  if (name.empty()) {
    unnamed_ = nullptr;
    return;
  }
  if (auto found = named_.find(name); found != named_.end()) erase(found);
}

void Portals::remove_since(uint64_t number) {
  if (unnamed_ != nullptr && unnamed_->number >= number) unnamed_ = nullptr;
  for (auto place = named_.begin(); place != named_.end();)
    place = place->second->number >= number ? erase(place) : std::next(place);
}

void Portals::end_since(uint64_t number) {
  auto end = [this, number](Portal* portal) {
    if (portal == nullptr || portal->number < number) return;
    portal->execution.reset();
    portal->held.reset();
    portal->inner.reset();
    portal->plan.reset();
    portal->parameters = {};
    portal->memory.reset();
    if (portal->counted_bytes != 0) count(*portal, limits::portal_bytes);
    portal->state = Portal::State::ended;
  };
  end(unnamed_.get());
  for (const auto& [name, portal] : named_) end(portal.get());
}

void Portals::clear() {
  unnamed_ = nullptr;
  while (!named_.empty()) erase(named_.begin());
}

}  // namespace pgsilo
