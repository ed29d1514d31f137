#include "catalog/sequence/sequence_state.h"

#include <algorithm>
#include <new>
#include <thread>

#include "base/arena.h"
#include "base/backoff.h"
#include "base/byte_order.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/parker.h"
#include "storage/record/row_buffer.h"
#include "storage/relation/relation.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

namespace {

// A row of `sequence_states`: the relation's id, four bytes; last_value, eight, and is_called, one.
struct RowKey {
  explicit RowKey(RelationId id) { store_be<uint32_t>(bytes, id.value()); }
  std::string_view view() const { return {bytes, sizeof bytes}; }
  char bytes[sizeof(uint32_t)];
};

struct RowValue {
  explicit RowValue(const SequencePosition& position) {
    store_be<uint64_t>(bytes, static_cast<uint64_t>(position.last_value));
    bytes[sizeof(uint64_t)] = position.is_called ? 1 : 0;
  }
  std::string_view view() const { return {bytes, sizeof bytes}; }
  char bytes[sizeof(uint64_t) + 1];
};

// Writing the row takes microseconds: worth waiting for without a switch, unless the writer has
// lost its CPU or waits for room in the log.
constexpr int pauses_before_parking = 120;

}  // namespace

RelationId SequenceState::relation_of_row(std::string_view key) {
  PGSILO_CHECK(key.size() == sizeof(uint32_t));
  return RelationId(load_be<uint32_t>(key.data()));
}

SequencePosition SequenceState::position_of_row(std::string_view row) {
  PGSILO_CHECK(row.size() == sizeof(uint64_t) + 1);
  SequencePosition position;
  position.last_value = static_cast<int64_t>(load_be<uint64_t>(row.data()));
  position.is_called = row[sizeof(uint64_t)] != 0;
  return position;
}

bool SequenceState::is_private() const { return sequence_.is_private(); }

TransactionStatus SequenceState::wait_until_free(Latched& latched, const WaitSettings& waits) {
  Backoff backoff;
  for (int pauses = 0; busy_ && pauses < pauses_before_parking; ++pauses) {
    latched.unlock();
    backoff.pause();
    latched.lock();
  }
  while (busy_) {
    if (waits.parker == nullptr) {
      latched.unlock();
      std::this_thread::yield();
      latched.lock();
      continue;
    }
    Waiter waiter{waits.parker};
    remember(waiter);
    while (!waiter.called) {
      if (waits.cancelled != nullptr && waits.cancelled->load(std::memory_order_acquire)) {
        forget(waiter);
        return TransactionStatus::cancelled;
      }
      latched.unlock();
      waits.parker->park();
      latched.lock();
    }
  }
  return TransactionStatus::ok;
}

void SequenceState::remember(Waiter& waiter) {
  Waiter** link = &waiting_;
  while (*link != nullptr) link = &(*link)->next;
  *link = &waiter;
}

void SequenceState::forget(const Waiter& waiter) {
  Waiter** link = &waiting_;
  while (*link != &waiter) link = &(*link)->next;
  *link = waiter.next;
}

void SequenceState::end_writing() {
  busy_ = false;
  // Under the latch: a waiter's memory is gone once it has seen that it was called.
  for (Waiter* waiter = waiting_; waiter != nullptr;) {
    Waiter* next = waiter->next;
    waiter->called = true;
    waiter->parker->unpark();
    waiter = next;
  }
  waiting_ = nullptr;
}

// One-shots hold no share of the relation: each looks at its gate under the latch, under which
// freeze() comes after the gate was closed.
TransactionStatus SequenceState::admit(Latched& latched, Transaction& user) {
  TransactionStatus status = wait_until_free(latched, user.waits());
  if (status != TransactionStatus::ok || user.mode() != TransactionMode::one_shot) return status;
  return user.share_relation(sequence_);
}

// ---- the window ----

// Within the window nothing wraps and no bound is passed: its values are logged ones.
bool SequenceState::take_ticket(const SequenceDefinition& definition, SequenceGrant* grant) {
  SequenceWindow::Ticket ticket;
  if (!window_.take(&ticket)) return false;
  auto cache = static_cast<uint64_t>(definition.cache);
  auto increment = static_cast<uint64_t>(definition.increment);
  uint64_t first =
      static_cast<uint64_t>(ticket.terms.last_value) + (ticket.number * cache + 1) * increment;
  *grant = {static_cast<int64_t>(first), static_cast<int64_t>(first + (cache - 1) * increment),
            Epoch(ticket.terms.epoch), ticket.terms.generation};
  return true;
}

void SequenceState::open_window(const SequenceDefinition& definition) {
  if (is_private()) return;
  ticket_values_ = static_cast<uint64_t>(definition.cache);
  increment_ = static_cast<uint64_t>(definition.increment);
  uint64_t tickets = std::min(static_cast<uint64_t>(position_.log_count) / ticket_values_,
                              SequenceWindow::most_tickets);
  if (tickets == 0) return;
  window_.open(
      {position_.last_value, tickets, epoch_.value(), generation_.load(std::memory_order_relaxed)});
}

void SequenceState::close_window() {
  if (window_.is_open()) position_ = position_behind(window_.close());
}

SequencePosition SequenceState::position_behind(uint64_t tickets) const {
  uint64_t values = tickets * ticket_values_;
  return {static_cast<int64_t>(static_cast<uint64_t>(position_.last_value) + values * increment_),
          position_.log_count - static_cast<int64_t>(values), position_.is_called};
}

TransactionStatus SequenceState::take(Transaction& user, Transaction& scribe,
                                      const SequenceDefinition& definition, SequenceGrant* grant) {
  if (user.mode() == TransactionMode::interactive) {
    TransactionStatus status = user.share_relation(sequence_);
    if (status != TransactionStatus::ok) return status;
  }
  if (take_ticket(definition, grant)) return TransactionStatus::ok;
  Latched latched(latch_);
  TransactionStatus status = admit(latched, user);
  if (status != TransactionStatus::ok) return status;
  // Who wrote the row while we waited has opened a window.
  if (take_ticket(definition, grant)) return TransactionStatus::ok;
  close_window();
  std::optional<SequenceStep> step =
      next_of_sequence(definition, position_, ReservationSize::least);
  if (!step) return TransactionStatus::not_found;
  if (step->logs) {
    step = next_of_sequence(definition, position_, reservation_size_.next(monotonic_us()));
    status = write(latched, scribe, {step->logged, 0, true});
    if (status != TransactionStatus::ok) return status;
  }
  position_ = step->position;
  *grant = {step->first, step->position.last_value, epoch_,
            generation_.load(std::memory_order_relaxed)};
  open_window(definition);
  return TransactionStatus::ok;
}

TransactionStatus SequenceState::set(Transaction& user, Transaction& scribe,
                                     const SequencePosition& position, Epoch* epoch) {
  if (user.mode() == TransactionMode::interactive) {
    TransactionStatus status = user.share_relation(sequence_);
    if (status != TransactionStatus::ok) return status;
  }
  Latched latched(latch_);
  TransactionStatus status = admit(latched, user);
  if (status != TransactionStatus::ok) return status;
  close_window();
  status = write(latched, scribe, position);
  if (status != TransactionStatus::ok) return status;
  position_ = position;
  reservation_size_ = {};
  *epoch = epoch_;
  // Release: whoever sees it takes anew, under the latch.
  generation_.store(generation_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  return TransactionStatus::ok;
}

SequencePosition SequenceState::show(Epoch* epoch) const {
  std::lock_guard latched(latch_);
  *epoch = epoch_;
  return window_.is_open() ? position_behind(window_.taken()) : position_;
}

TransactionStatus SequenceState::freeze(Transaction& owner, SequencePosition* position) {
  Latched latched(latch_);
  TransactionStatus status = wait_until_free(latched, owner.waits());
  if (status != TransactionStatus::ok) return status;
  close_window();
  *position = position_;
  return status;
}

void SequenceState::created_in(Epoch epoch) {
  std::lock_guard latched(latch_);
  if (epoch > epoch_) epoch_ = epoch;
}

// ---- the row ----

TransactionStatus SequenceState::write(Latched& latched, Transaction& scribe,
                                       const SequencePosition& logged) {
  if (is_private()) {
    logged_ = logged;
    return TransactionStatus::ok;
  }
  busy_ = true;
  latched.unlock();
  Epoch epoch;
  TransactionStatus status;
  try {
    status = write_row(scribe, logged, &epoch);
  } catch (const std::bad_alloc&) {
    scribe.abort();
    status = TransactionStatus::out_of_memory;
  }
  latched.lock();
  if (status == TransactionStatus::ok) epoch_ = epoch;
  end_writing();
  return status;
}

TransactionStatus SequenceState::write_row(Transaction& scribe, const SequencePosition& logged,
                                           Epoch* epoch) {
  for (;;) {
    scribe.begin(TransactionMode::one_shot);
    Arena memory;
    RowBuffer buffer(memory);
    RowRef row;
    TransactionStatus status = scribe.begin_statement();
    if (status == TransactionStatus::ok) status = find_row(scribe, buffer, &row);
    if (status == TransactionStatus::ok) status = scribe.update(row, RowValue(logged).view());
    if (status == TransactionStatus::ok) status = scribe.commit();
    if (status == TransactionStatus::ok) {
      *epoch = scribe.newest_epoch();
      return status;
    }
    scribe.abort();
    // Dropped, or rewritten, by a definition that the user's transaction does not know yet.
    if (status == TransactionStatus::not_found) return TransactionStatus::conflict_record;
    if (!is_conflict(status)) return status;
    // Whoever replaces the row holds its sequence exclusively: the user finds out.
    if (status == TransactionStatus::must_wait) return TransactionStatus::conflict_record;
  }
}

TransactionStatus SequenceState::find_row(Transaction& transaction, RowBuffer& buffer,
                                          RowRef* row) {
  return transaction.get(states_, RowKey(sequence_.id()).view(), buffer, row,
                         ReadPurpose::for_update);
}

TransactionStatus SequenceState::insert_row(Transaction& creator) {
  return creator.insert(states_, RowKey(sequence_.id()).view(), RowValue(logged_).view());
}

TransactionStatus SequenceState::remove_row(Transaction& dropper) {
  Arena memory;
  RowBuffer buffer(memory);
  RowRef row;
  TransactionStatus status = find_row(dropper, buffer, &row);
  if (status == TransactionStatus::not_found) return TransactionStatus::conflict_record;
  return status == TransactionStatus::ok ? dropper.remove(row) : status;
}

}  // namespace pgsilo
