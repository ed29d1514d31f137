#include "server/session/portal.h"

#include <algorithm>
#include <iterator>

#include "base/append.h"
#include "base/memory_budget.h"
#include "catalog/descriptors.h"
#include "executor/execution.h"
#include "executor/held_rows.h"
#include "server/limits.h"
#include "server/session/cursor.h"
#include "sql/sql_error.h"

namespace pgsilo {
namespace {

size_t bytes_of(const Portal& portal) {
  return limits::portal_bytes + portal.parameter_bytes() + portal.own_plan_bytes() +
         portal.result_formats.capacity() * sizeof(WireFormat);
}

CursorInfo info_of(std::string_view name, const Portal& portal) {
  if (portal.cursor == nullptr) {
    return {
        .name = name, .text = portal.statement->text->syntax->text, .declared_us = portal.bound_us};
  }
  const Cursor::Properties& properties = portal.cursor->properties();
  return {name,
          properties.text,
          properties.is_holdable,
          properties.is_binary,
          properties.scrolls,
          properties.declared_us};
}

bool outlives(const Portal& portal) {
  return portal.cursor != nullptr && portal.cursor->holding != Cursor::Holding::no;
}

}  // namespace

Portal::Portal() = default;
Portal::~Portal() = default;

size_t Portal::parameter_bytes() const {
  return (memory ? memory->bytes_reserved() : 0) + parameters.capacity() * sizeof(Datum);
}

size_t Portal::own_plan_bytes() const {
  return has_own_plan && plan != nullptr ? plan->bytes() : 0;
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
  size_t bytes = bytes_of(*portal) + name.size();
  require_room_for(*portal, bytes);
  count_with_statement(*named_.emplace(name, std::move(portal)).first->second, bytes);
}

void Portals::set_inner(Portal& portal, std::shared_ptr<Portal> inner) {
  if (portal.counted_bytes != 0) {
    size_t bytes = bytes_of(*inner);
    require_room_for(*inner, bytes);
    count_with_statement(*inner, bytes);
  }
  portal.inner = std::move(inner);
}

// The statement counts with the first that keeps it.
void Portals::require_room_for(const Portal& portal, size_t bytes) const {
  if (portal.statement->portals == 0) bytes += portal.statement->bytes();
  if (named_bytes_ + bytes > limits::free_portal_bytes) require_room(bytes);
}

// It takes so much from here on.
void Portals::count(Portal& portal, size_t bytes) {
  named_bytes_ -= portal.counted_bytes;
  named_bytes_ += bytes;
  portal.counted_bytes = bytes;
}

void Portals::count_with_statement(Portal& portal, size_t bytes) {
  count(portal, bytes);
  PreparedStatement& statement = *portal.statement;
  if (statement.portals++ != 0) return;
  statement.portals_bytes = statement.bytes();
  named_bytes_ += statement.portals_bytes;
}

void Portals::forget(Portal& portal) {
  forget_inner(portal);
  count(portal, 0);
  PreparedStatement& statement = *portal.statement;
  if (--statement.portals == 0) named_bytes_ -= statement.portals_bytes;
}

void Portals::forget_inner(Portal& portal) {
  if (portal.inner != nullptr && portal.inner->counted_bytes != 0) forget(*portal.inner);
}

Portals::Named::iterator Portals::erase(Named::iterator place) {
  forget(*place->second);
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
  erase_if([&](const Portal& portal) { return portal.number >= number; });
}

template <typename Which>
void Portals::erase_if(Which which) {
  for (auto place = named_.begin(); place != named_.end();)
    place = which(*place->second) ? erase(place) : std::next(place);
}

void Portals::end_since(uint64_t number) {
  auto end = [this, number](Portal* portal) {
    if (portal == nullptr || portal->number < number || outlives(*portal)) return;
    portal->execution.reset();
    portal->cursor.reset();
    portal->held.reset();
    forget_inner(*portal);
    portal->inner.reset();
    portal->plan.reset();
    free_memory(portal->parameters);
    portal->memory.reset();
    if (portal->counted_bytes != 0) count(*portal, limits::portal_bytes);
    portal->state = Portal::State::ended;
  };
  end(unnamed_.get());
  for (const auto& [name, portal] : named_) end(portal.get());
}

void Portals::clear() {
  unnamed_ = nullptr;
  if (!named_.empty()) erase_if([](const Portal& portal) { return !outlives(portal); });
}

void Portals::remove_all() {
  unnamed_ = nullptr;
  erase_if([](const Portal&) { return true; });
}

void Portals::hold(const std::function<void(Portal&)>& complete) {
  for (const auto& [name, portal] : named_) {
    Cursor* cursor = portal->cursor.get();
    if (cursor == nullptr || !cursor->properties().is_holdable ||
        cursor->holding != Cursor::Holding::no || portal->state == Portal::State::failed ||
        portal->state == Portal::State::ended)
      continue;
    complete(*portal);
    portal->execution.reset();
    portal->plan.reset();
    cursor->holding = Cursor::Holding::committing;
    ++holding_;
  }
}

void Portals::settle_held(bool committed) {
  if (std::exchange(holding_, 0) == 0) return;
  auto is_settled = [](const Portal& portal) {
    return portal.cursor != nullptr && portal.cursor->holding == Cursor::Holding::committing;
  };
  if (!committed) return erase_if(is_settled);
  for (const auto& [name, portal] : named_) {
    if (is_settled(*portal)) portal->cursor->holding = Cursor::Holding::held;
  }
}

void Portals::refuse_in_use(const TableDescriptor& table, std::string_view command) const {
  auto reads = [&](const Portal& portal) {
    return portal.execution != nullptr && portal.plan->reads(table.oid);
  };
  bool unused = (unnamed_ == nullptr || !reads(*unnamed_)) &&
                std::ranges::none_of(named_, [&](const auto& each) { return reads(*each.second); });
  if (unused) return;
  throw SqlError(sqlstate::object_in_use,
                 concat("cannot ", command, " \"", table.name,
                        "\" because it is being used by active queries in this session"));
}

std::vector<CursorInfo> Portals::cursors() const {
  std::vector<CursorInfo> found;
  if (unnamed_ != nullptr) found.push_back(info_of({}, *unnamed_));
  for (const auto& [name, portal] : named_) found.push_back(info_of(name, *portal));
  return found;
}

}  // namespace pgsilo
