#include "executor/constraint/reference_events.h"

#include <algorithm>

#include "catalog/catalog_view.h"
#include "executor/constraint/referential_actions.h"
#include "executor/execution_context.h"
#include "executor/execution_state.h"
#include "planner/bound/table_use.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

bool has_any(const std::vector<int16_t>& numbers, const std::vector<int32_t>& columns) {
  return std::any_of(columns.begin(), columns.end(), [&](int32_t column) {
    return std::find(numbers.begin(), numbers.end(), column + 1) != numbers.end();
  });
}

}  // namespace

std::unique_ptr<ReferenceWatch> ReferenceWatch::of(ExecutionState& state,
                                                   const TableDescriptor& table,
                                                   const RowChanges& changes) {
  if (!table.has_foreign_keys() && table.referenced_by.empty()) return nullptr;
  auto watch = std::make_unique<ReferenceWatch>(state, table, changes);
  return watch->is_empty() ? nullptr : std::move(watch);
}

ReferenceWatch::ReferenceWatch(ExecutionState& state, const TableDescriptor& table,
                               const RowChanges& changes)
    : state_(state), table_(table) {
  for (const ConstraintDescriptor& constraint : table.constraints) {
    if (!constraint.foreign_key) continue;
    // As rest_on_referenced_tables() has it.
    bool rests = changes.inserts || has_any(constraint.columns, changes.updates) ||
                 (!constraint.validated && !changes.updates.empty());
    if (rests || (constraint.deferrable && !changes.updates.empty()))
      references_.push_back(
          {std::make_unique<ReferenceCheck>(state.session, table, constraint), rests});
  }
  for (const IncomingReference& reference : table.referenced_by) {
    const TableDescriptor& referring = *state.session.catalog->find_table(reference.table);
    const ConstraintDescriptor& constraint = *referring.find_constraint(reference.constraint);
    const std::vector<int16_t>& columns = constraint.foreign_key->referenced_columns;
    if (changes.removes || has_any(columns, changes.updates))
      incoming_.push_back({reference, columns});
  }
}

ReferenceQueue& ReferenceWatch::queue() {
  if (state_.reference_events == nullptr)
    state_.reference_events = std::make_unique<ReferenceQueue>();
  return *state_.reference_events;
}

// PostgreSQL checks when the statement ends. What is found at once will still be there then, unless
// the statement itself takes it away; only what is missing may yet come.
void ReferenceWatch::check(Outgoing& reference, std::span<const Datum> row, std::string_view key,
                           bool now) {
  const ConstraintDescriptor& constraint = reference.check->constraint();
  if (!reference.rests) state_.use_table(reference.check->referenced(), TableUse::lock_rows);
  reference.rests = true;
  bool is_deferred = state_.session.references->is_deferred(constraint);
  if (now && !is_deferred && reference.check->holds(row)) return;
  ReferenceQueue& events = queue();
  ReferenceEvent event;
  event.reference = {table_.oid, constraint.oid};
  event.row_key = events.memory.copy_string(key);
  events.events.push_back(event);
}

void ReferenceWatch::inserted(std::span<const Datum> row, std::string_view key, bool may_change) {
  for (Outgoing& reference : references_)
    check(reference, row, key, !may_change || !reference.check->is_self_reference());
}

// What PostgreSQL asks for (RI_FKey_fk_upd_check_required): nothing of a row that refers to nothing
// now, or to the same as before. But where events wait, a row that the transaction itself has made
// before is asked about again: the event of that one may lead to a key that has no row any more.
void ReferenceWatch::updated(std::span<const Datum> old_row, std::span<const Datum> new_row,
                             std::string_view key, bool moves, bool is_own) {
  for (const Incoming& incoming : incoming_) {
    if (may_be_referred_to(incoming, old_row) && !same_key(incoming, old_row, new_row))
      add(ReferenceEvent::Kind::moved, incoming, old_row, new_row);
  }
  for (Outgoing& reference : references_) {
    ReferenceCheck& looks = *reference.check;
    if (!looks.is_needed(new_row)) continue;
    // Who validates the constraint may have been where the row is now, and not yet where it was.
    bool escapes = moves && !looks.constraint().validated;
    bool renews = is_own && state_.session.references->is_deferred(looks.constraint());
    if (escapes || renews || !looks.same(old_row, new_row))
      check(reference, new_row, key, !looks.is_self_reference());
  }
}

void ReferenceWatch::removed(std::span<const Datum> old_row) {
  for (const Incoming& incoming : incoming_) {
    if (may_be_referred_to(incoming, old_row))
      add(ReferenceEvent::Kind::removed, incoming, old_row, {});
  }
}

void ReferenceWatch::add(ReferenceEvent::Kind kind, const Incoming& incoming,
                         std::span<const Datum> old_row, std::span<const Datum> new_row) {
  ReferenceQueue& events = queue();
  ReferenceEvent event;
  event.kind = kind;
  event.reference = incoming.reference;
  event.old_values = values_of(incoming, old_row, events.memory);
  if (!new_row.empty()) event.new_values = values_of(incoming, new_row, events.memory);
  events.events.push_back(event);
}

// Nothing refers to a null.
bool ReferenceWatch::may_be_referred_to(const Incoming& incoming, std::span<const Datum> row) {
  return std::none_of(incoming.columns.begin(), incoming.columns.end(),
                      [&](int16_t number) { return row[static_cast<size_t>(number) - 1].null; });
}

// As it is stored: 1.0 and 1.00 are equal numbers, and yet one takes the other's place where it is
// referred to.
bool ReferenceWatch::same_key(const Incoming& incoming, std::span<const Datum> left,
                              std::span<const Datum> right) const {
  return std::all_of(incoming.columns.begin(), incoming.columns.end(), [&](int16_t number) {
    auto at = static_cast<size_t>(number) - 1;
    const TypeInfo& type = type_info(table_.columns[at].type);
    if (left[at].null || right[at].null) return left[at].null && right[at].null;
    return type.by_reference ? left[at].bytes() == right[at].bytes()
                             : type.equal(left[at], right[at]);
  });
}

std::span<const Datum> ReferenceWatch::values_of(const Incoming& incoming,
                                                 std::span<const Datum> row, Arena& memory) const {
  auto values = memory.make_span<Datum>(incoming.columns.size());
  for (size_t i = 0; i < values.size(); ++i) {
    auto at = static_cast<size_t>(incoming.columns[i]) - 1;
    values[i] = copy_datum(row[at], type_info(table_.columns[at].type), memory);
  }
  return values;
}

}  // namespace pgsilo
