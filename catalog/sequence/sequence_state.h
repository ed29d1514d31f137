// Where one sequence stands: one object shared by all sessions, outside of the transactions that
// take values (docs/sequences.md). What is on disk is a row of the relation `sequence_states`,
// written ahead by small transactions of their own, so that no value leaves that a restart could
// hand out again.
//
// Created or rewritten by ALTER, a state is private to its transaction (as its relation is): then
// nothing is written ahead, and the transaction's commit brings the row.
//
// Thread safety: all members, any thread, under a pin of the user's transaction.
#pragma once

#include <atomic>
#include <mutex>
#include <string_view>

#include "base/spin_latch.h"
#include "base/strong_id.h"
#include "catalog/sequence/sequence_definition.h"
#include "catalog/sequence/sequence_window.h"
#include "storage/epoch/epoch.h"
#include "storage/transaction/abort_reason.h"

namespace pgsilo {

class Parker;
class Relation;
class RowBuffer;
class Transaction;
struct RowRef;
struct WaitSettings;

// Values for one session: `first`, and by the increment up to `last`.
struct SequenceGrant {
  int64_t first = 0;
  int64_t last = 0;
  Epoch epoch;          // what their reservation rests on: no reply with one before D reaches it
  uint64_t generation;  // SequenceState::generation()
};

class SequenceState {
 public:
  // The sequence's own (empty) relation carries its lock words; its id is the row's key.
  // `position`, `epoch`: what the row says, or will say, and since when.
  SequenceState(Relation& sequence, Relation& states, const SequencePosition& position, Epoch epoch)
      : sequence_(sequence),
        states_(states),
        position_(position),
        logged_(position),
        epoch_(epoch) {}
  SequenceState(const SequenceState&) = delete;
  SequenceState& operator=(const SequenceState&) = delete;

  // Below, `user` is the transaction that wants something; it shares the relation and rests on the
  // sequence's descriptor. `scribe` is a closed transaction on the same worker, for reservations.
  // Statuses as those of reads and writes of `user`: anything but ok ends it.

  // The next `definition.cache` values; not_found at the sequence's end.
  TransactionStatus take(Transaction& user, Transaction& scribe,
                         const SequenceDefinition& definition, SequenceGrant* grant);
  // setval(): whatever sessions have cached is void. *epoch: what the new position rests on.
  TransactionStatus set(Transaction& user, Transaction& scribe, const SequencePosition& position,
                        Epoch* epoch);
  // The position, for one who shows it.
  SequencePosition show(Epoch* epoch) const;
  // The position, for one who holds the relation exclusively and will replace this state: it does
  // not move any more until that transaction ends.
  TransactionStatus freeze(Transaction& owner, SequencePosition* position);

  // Grows when a setval() voids what was taken before.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  // The row of a state that comes (with the commit that `creator` is about to make) or goes.
  TransactionStatus insert_row(Transaction& creator);
  TransactionStatus remove_row(Transaction& dropper);
  // The transaction that made it has committed in this epoch. Before others can find it.
  void created_in(Epoch epoch);
  bool is_private() const;

  // For start-up: what a row of `sequence_states` says.
  static RelationId relation_of_row(std::string_view key);
  static SequencePosition position_of_row(std::string_view row);

 private:
  // Somebody who waits until nobody writes the row; on the waiter's stack.
  struct Waiter {
    Parker* parker;
    Waiter* next = nullptr;
    bool called = false;
  };
  using Latched = std::unique_lock<SpinLatch>;

  bool take_ticket(const SequenceDefinition& definition, SequenceGrant* grant);
  void open_window(const SequenceDefinition& definition);
  void close_window();
  SequencePosition position_behind(uint64_t tickets) const;
  TransactionStatus admit(Latched& latched, Transaction& user);
  TransactionStatus wait_until_free(Latched& latched, const WaitSettings& waits);
  void remember(Waiter& waiter);
  void forget(const Waiter& waiter);
  void end_writing();
  // Latched on entry and return, not in between.
  TransactionStatus write(Latched& latched, Transaction& scribe, const SequencePosition& logged);
  TransactionStatus write_row(Transaction& scribe, const SequencePosition& logged, Epoch* epoch);
  TransactionStatus find_row(Transaction& transaction, RowBuffer& buffer, RowRef* row);

  Relation& sequence_;
  Relation& states_;
  // What can be taken without the latch.
  SequenceWindow window_;
  mutable SpinLatch latch_;     // guards the rest, and who opens and closes the window
  SequencePosition position_;   // before the window, while that is open
  uint64_t ticket_values_ = 1;  // of the window: values for a ticket,
  uint64_t increment_ = 1;      // and from one to the next
  SequencePosition logged_;     // what the row says, or will say
  Epoch epoch_;                 // of the row
  bool busy_ = false;           // somebody writes the row, and owns position_ meanwhile
  Waiter* waiting_ = nullptr;
  ReservationSize reservation_size_;
  std::atomic<uint64_t> generation_{0};
};

}  // namespace pgsilo
