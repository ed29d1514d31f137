// A record's TID word: the transaction id of its last writer and five status bits, in one 64-bit
// atomic (Silo section 4.2). Three types: Tid is a pure id, TidWord one value of the word,
// AtomicTidWord the word itself, whose every transition is a verb with its precondition.
//
//    63          21 20        5   4        3        2      1      0
//   +--------------+----------+--------+--------+------+------+------+
//   | epoch  (43)  | seq (16) |obsolete|deleting|intent|absent| lock |
//   +--------------+----------+--------+--------+------+------+------+
//
// Sizing: 2^43 epochs at 10,000 a second last 27 years; 2^16 transactions of one worker (or chained
// through one record) fit one epoch, and when they are used up following() says so and the
// committer advances the epoch.
//
// Status bits
// - lock: held from commit's first phase to install; nobody else changes tid, absent, deleting or
// obsolete meanwhile.
// - absent: the key has no row: a placeholder of an insert, or a deleted row not yet unhooked.
// - intent: an interactive transaction owns or waits for the intent lock; look in the queue.
// Changes only under the
//   queue's latch, independently of the lock; no other verb touches it.
// - deleting: the lock's holder is about to make the record absent. A lock without this bit counts
// as present for an
//   existence read (docs/foreign_keys.md).
// - obsolete: unhooked from its tree for good; nobody may lock it or validate against it again
// (I8).
//
// Invariants: I1 tid never decreases. Only tid comparisons decide versions; status bits are masked.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <optional>

#include "base/check.h"
#include "base/ordered_load.h"
#include "storage/epoch/epoch.h"

namespace pgsilo {

// A transaction id: (epoch, sequence), totally ordered. Tid() belongs to no transaction: it is
// smaller than every committed one, and placeholders carry it.
class Tid {
 public:
  static constexpr int sequence_bits = 16;
  static constexpr int epoch_bits = 43;
  static constexpr uint32_t max_sequence = (uint32_t{1} << sequence_bits) - 1;
  static constexpr uint64_t max_epoch = (uint64_t{1} << epoch_bits) - 1;

  constexpr Tid() = default;
  constexpr Tid(Epoch epoch, uint32_t sequence)
      : bits_(epoch.value() << epoch_shift | uint64_t{sequence} << sequence_shift) {
    PGSILO_DCHECK(epoch.value() <= max_epoch && sequence <= max_sequence);
  }
  // For formats on disk: value() is stable, ordered like the Tid, and its five low bits are zero.
  static constexpr Tid from_value(uint64_t value) { return Tid(value & ~status_mask); }
  constexpr uint64_t value() const { return bits_; }

  constexpr Epoch epoch() const { return Epoch(bits_ >> epoch_shift); }
  constexpr uint32_t sequence() const {
    return static_cast<uint32_t>(bits_ >> sequence_shift) & max_sequence;
  }
  friend constexpr auto operator<=>(Tid, Tid) = default;

  // The smallest Tid that is greater than `floor` and in `epoch` (Silo's rules a, b and c). None if
  // `epoch` has no sequence number left above `floor`, or floor is from a later epoch: the
  // committer must advance the epoch and start its commit over.
  static constexpr std::optional<Tid> following(Tid floor, Epoch epoch) {
    if (floor.epoch() < epoch) return Tid(epoch, 0);
    if (floor.epoch() > epoch || floor.sequence() == max_sequence) return std::nullopt;
    return Tid(epoch, floor.sequence() + 1);
  }

 private:
  friend class TidWord;
  static constexpr int sequence_shift = 5;
  static constexpr int epoch_shift = sequence_shift + sequence_bits;
  static constexpr uint64_t status_mask = (uint64_t{1} << sequence_shift) - 1;
  explicit constexpr Tid(uint64_t bits) : bits_(bits) {}

  uint64_t bits_ = 0;
};

// One value of a TID word.
class TidWord {
 public:
  constexpr TidWord() = default;
  // A word nobody holds.
  static constexpr TidWord present(Tid tid) { return TidWord(tid.bits_); }
  static constexpr TidWord absent(Tid tid) { return TidWord(tid.bits_ | absent_bit); }

  constexpr Tid tid() const { return Tid(bits_ & ~Tid::status_mask); }
  constexpr bool is_locked() const { return (bits_ & lock_bit) != 0; }
  constexpr bool is_absent() const { return (bits_ & absent_bit) != 0; }
  constexpr bool has_intent() const { return (bits_ & intent_bit) != 0; }
  constexpr bool is_deleting() const { return (bits_ & deleting_bit) != 0; }
  constexpr bool is_obsolete() const { return (bits_ & obsolete_bit) != 0; }
  // The row exists now, or still will when a lock that is not a deleter's is released.
  constexpr bool counts_as_present() const {
    return (bits_ & (absent_bit | deleting_bit | obsolete_bit)) == 0;
  }
  constexpr TidWord with_intent() const { return TidWord(bits_ | intent_bit); }
  constexpr TidWord without_intent() const { return TidWord(bits_ & ~intent_bit); }
  constexpr TidWord locked() const { return TidWord(bits_ | lock_bit); }
  // Without what others, or a lock's holder, are about to do.
  constexpr TidWord settled() const { return TidWord(bits_ & ~(intent_bit | deleting_bit)); }
  // Of nobody: Tid and absent.
  constexpr TidWord version() const {
    return TidWord(bits_ & ~(Tid::status_mask & ~uint64_t{absent_bit}));
  }
  constexpr uint64_t bits() const { return bits_; }
  friend constexpr bool operator==(TidWord, TidWord) = default;

 private:
  friend class AtomicTidWord;
  static constexpr uint64_t lock_bit = 1 << 0;
  static constexpr uint64_t absent_bit = 1 << 1;
  static constexpr uint64_t intent_bit = 1 << 2;
  static constexpr uint64_t deleting_bit = 1 << 3;
  static constexpr uint64_t obsolete_bit = 1 << 4;
  explicit constexpr TidWord(uint64_t bits) : bits_(bits) {}

  uint64_t bits_ = 0;
};

// What the lock's taker is going to do.
enum class LockPurpose : uint8_t { update, remove };

class AtomicTidWord {
 public:
  explicit AtomicTidWord(TidWord initial) : bits_(initial.bits_) {}

  // Pairs with install(): who sees a Tid sees the bytes installed with it.
  TidWord load() const { return TidWord(bits_.load(std::memory_order_acquire)); }
  // Validation in commit, after the epoch was read (see epoch_manager.h for why seq_cst).
  TidWord load_for_validation() const { return TidWord(bits_.load(std::memory_order_seq_cst)); }
  // The second look of a seqlock reader: ordered after the row's bytes were loaded.
  TidWord load_after_reading() const { return TidWord(load_after_reads(bits_)); }

  // Takes the lock unless it is held or the record is obsolete. `seen` is the word before: its tid
  // and status are what the holder now owns, or why it failed. Also sets deleting if that is the
  // purpose. The caller takes locks in address order and decides how to wait.
  [[nodiscard]] bool try_lock(LockPurpose purpose, TidWord& seen) {
    uint64_t old = bits_.load(std::memory_order_relaxed);
    uint64_t taken = purpose == LockPurpose::remove ? TidWord::lock_bit | TidWord::deleting_bit
                                                    : TidWord::lock_bit;
    while ((old & (TidWord::lock_bit | TidWord::obsolete_bit)) == 0) {
      // seq_cst: precedes the holder's read of the epoch in the total order (epoch_manager.h).
      // Acquire: pairs with the previous holder's release. Fails only if intent changed or another
      // took the lock, so it ends.
      if (bits_.compare_exchange_weak(old, old | taken, std::memory_order_seq_cst,
                                      std::memory_order_relaxed)) {
        seen = TidWord(old);
        after_marking(bits_);
        return true;
      }
    }
    seen = TidWord(old);
    return false;
  }

  // Holder: gives the lock back; tid and absent are as before.
  void unlock() {
    PGSILO_DCHECK(TidWord(bits_.load(std::memory_order_relaxed)).is_locked());
    bits_.fetch_and(~(TidWord::lock_bit | TidWord::deleting_bit), std::memory_order_release);
  }

  // Holder: the row's bytes are in place; publishes them as the version `tid` (absent: there is no
  // row) and unlocks, in one step. `tid` is greater than the present one.
  void install(Tid tid, bool absent) {
    uint64_t old = bits_.load(std::memory_order_relaxed);
    PGSILO_DCHECK(TidWord(old).is_locked() && !TidWord(old).is_obsolete() &&
                  TidWord(old).tid() < tid);
    uint64_t installed = tid.value() | (absent ? TidWord::absent_bit : 0);
    // Flips exactly the bits that differ, so that an intent raised or dropped meanwhile survives.
    bits_.fetch_xor((old & ~TidWord::intent_bit) ^ installed, std::memory_order_release);
  }

  // The first version of a row that nobody but the caller's transaction can find, and that it does
  // not lock: no read-modify-write.
  void assign_first(Tid tid) {
    PGSILO_DCHECK(bits_.load(std::memory_order_relaxed) == 0);
    bits_.store(tid.value(), std::memory_order_release);
  }

  // Holder: the record is absent and about to be unhooked; unlocks it for ever.
  void unlock_obsolete() {
    uint64_t old = bits_.load(std::memory_order_relaxed);
    PGSILO_DCHECK(TidWord(old).is_locked() && TidWord(old).is_absent());
    bits_.fetch_xor((old & (TidWord::lock_bit | TidWord::deleting_bit)) | TidWord::obsolete_bit,
                    std::memory_order_release);
  }

  // Under the intent queue's latch. Return the word before. seq_cst, so that an intent raised
  // before a one-shot's epoch was read is seen by its validation.
  TidWord raise_intent() {
    return TidWord(bits_.fetch_or(TidWord::intent_bit, std::memory_order_seq_cst));
  }
  TidWord drop_intent() {
    return TidWord(bits_.fetch_and(~TidWord::intent_bit, std::memory_order_seq_cst));
  }

 private:
  std::atomic<uint64_t> bits_;
};

}  // namespace pgsilo
