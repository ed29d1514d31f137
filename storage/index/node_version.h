// The version word of a tree node: a lock for writers, a seqlock for readers, and the value that
// node sets remember (Silo section 4.6, Masstree's node versions). Every bit is named and every
// transition a verb.
//
//    63       28 27        6   5      4      3        2        1       0
//   +-----------+-----------+------+------+------+---------+--------+------+
//   |  growths  | removals  | heir |border| root | deleted |changing| lock |
//   +-----------+-----------+------+------+------+---------+--------+------+
//
// - lock: a writer owns the node. Readers go on: nothing has changed yet.
// - changing: the owner is changing what readers see. Readers and validation wait.
// - deleted: the node was unlinked; it never changes again. Set together with a removal.
// - root: the node is the root of its layer. Cleared together with a growth.
// - border: constant.
// - heir: the node has taken over the range of one that was removed; so have those that split off
//   it or hang from it since.
// - removals: since the last growth, of keys from the node's range, and of the node on its right or
//   of a layer under it, which were empty. When they are used up a removal counts as a growth.
// - growths: 36 bits, bumped by every other change. They would have to come round, to the very
//   number, while one transaction is open: 19 hours of a million keys a second in one node. For a
//   border node that means every key that comes, and every part of its range that goes.
// Both counts together are bumped by every change.
//
// A reader: v = stable(); loads; unchanged_since(v) => all loads belong to the node as it was under
// v. A writer: lock() or try_lock_at(v); begin_change(); stores; end_change(). Or unlock() if it
// changed nothing readers see. Node locks are never held across an allocation, a park or a system
// call.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/backoff.h"
#include "base/check.h"
#include "base/ordered_load.h"
#include "storage/index/schedule_point.h"

namespace pgsilo {

// One value of the word, without lock and changing: what a node set remembers.
class NodeVersion {
 public:
  constexpr NodeVersion() = default;
  constexpr bool is_deleted() const { return (bits_ & deleted_bit) != 0; }
  constexpr bool is_root() const { return (bits_ & root_bit) != 0; }
  constexpr bool is_border() const { return (bits_ & border_bit) != 0; }
  constexpr bool is_heir() const { return (bits_ & heir_bit) != 0; }
  // Of one node: nothing lies between the two but removals.
  constexpr bool is_as_grown_as(NodeVersion other) const { return growths() == other.growths(); }
  constexpr uint64_t growths() const { return bits_ / one_growth; }
  constexpr uint64_t bits() const { return bits_; }
  static constexpr NodeVersion from_bits(uint64_t bits) { return NodeVersion(bits); }
  friend constexpr bool operator==(NodeVersion, NodeVersion) = default;

 private:
  friend class AtomicNodeVersion;
  static constexpr uint64_t lock_bit = 1 << 0;
  static constexpr uint64_t changing_bit = 1 << 1;
  static constexpr uint64_t deleted_bit = 1 << 2;
  static constexpr uint64_t root_bit = 1 << 3;
  static constexpr uint64_t border_bit = 1 << 4;
  static constexpr uint64_t heir_bit = 1 << 5;
  static constexpr uint64_t one_removal = 1 << 6;
  static constexpr uint64_t one_growth = 1 << 28;
  explicit constexpr NodeVersion(uint64_t bits) : bits_(bits) {}

  uint64_t bits_ = 0;
};

class AtomicNodeVersion {
 public:
  // A new node that nobody sees yet, unlocked.
  AtomicNodeVersion(bool border, bool root)
      : bits_((border ? NodeVersion::border_bit : 0) | (root ? NodeVersion::root_bit : 0)) {}

  // Constant; of a node that may be changing, too.
  bool is_border() const {
    return (bits_.load(std::memory_order_relaxed) & NodeVersion::border_bit) != 0;
  }
  // The version, as soon as nobody is changing the node. Pairs with end_change(): who sees a
  // version sees all its stores.
  NodeVersion stable() const {
    for (Backoff backoff;;) {
      PGSILO_SCHEDULE_POINT();
      uint64_t bits = bits_.load(std::memory_order_acquire);
      if ((bits & NodeVersion::changing_bit) == 0)
        return NodeVersion(bits & ~NodeVersion::lock_bit);
      PGSILO_SCHEDULE_WAIT();
      backoff.pause();
    }
  }

  // After reading: what was read since stable() returned `version` belongs to that version.
  bool unchanged_since(NodeVersion version) const {
    PGSILO_SCHEDULE_POINT();
    return (load_after_reads(bits_) & ~NodeVersion::lock_bit) == version.bits_;
  }

  // For validation in commit, after the epoch was read (epoch_manager.h says why seq_cst): the
  // version as soon as nobody is changing the node. One that only is locked has not changed: its
  // owner's transaction reads a later epoch than we did.
  NodeVersion for_validation() const {
    for (Backoff backoff;;) {
      PGSILO_SCHEDULE_POINT();
      uint64_t bits = bits_.load(std::memory_order_seq_cst);
      if ((bits & NodeVersion::changing_bit) == 0)
        return NodeVersion(bits & ~NodeVersion::lock_bit);
      PGSILO_SCHEDULE_WAIT();
      backoff.pause();
    }
  }

  void lock() {
    for (Backoff backoff;;) {
      PGSILO_SCHEDULE_POINT();
      uint64_t bits = bits_.load(std::memory_order_relaxed);
      if ((bits & NodeVersion::lock_bit) == 0 && take(bits)) return;
      PGSILO_SCHEDULE_WAIT();
      backoff.pause();
    }
  }

  // Takes the lock if the node is still at `version`: what was read under it is still so. Otherwise
  // false, as soon as the node is unlocked: look again.
  [[nodiscard]] bool try_lock_at(NodeVersion version) {
    PGSILO_SCHEDULE_POINT();
    if (take(version.bits_)) return true;
    for (Backoff backoff; (bits_.load(std::memory_order_relaxed) & NodeVersion::lock_bit) != 0;) {
      PGSILO_SCHEDULE_WAIT();
      backoff.pause();
    }
    return false;
  }

  // Holder: the version as it is now.
  NodeVersion locked_version() const {
    uint64_t bits = bits_.load(std::memory_order_relaxed);
    PGSILO_DCHECK((bits & NodeVersion::lock_bit) != 0);
    return NodeVersion(bits & ~(NodeVersion::lock_bit | NodeVersion::changing_bit));
  }

  // Holder: from here on readers wait. Idempotent.
  void begin_change() {
    uint64_t bits = bits_.load(std::memory_order_relaxed);
    PGSILO_DCHECK((bits & NodeVersion::lock_bit) != 0 && (bits & NodeVersion::deleted_bit) == 0);
    PGSILO_SCHEDULE_POINT();
    bits_.store(bits | NodeVersion::changing_bit, std::memory_order_relaxed);
    after_marking(bits_);  // the stores of the change come after the mark
  }

  // Holder, changing: publishes the change under a new version, which it returns, and unlocks.
  NodeVersion end_change() { return finish_growth(0); }
  // Likewise, and the node is no longer its layer's root.
  NodeVersion end_change_not_root() { return finish_growth(NodeVersion::root_bit); }
  // Likewise, if keys have gone and none has come.
  NodeVersion end_removal() { return finish_removal(0); }
  // Likewise, and the node has taken over the range of one that goes.
  NodeVersion end_removal_heir() { return finish_removal(NodeVersion::heir_bit); }
  // Likewise, and the node, which was empty, has been unlinked for good.
  NodeVersion end_removal_deleted() { return finish_removal(NodeVersion::deleted_bit); }

  // Owner of a node that nobody sees yet: part of the range of a node at `version` is its own.
  void inherit(NodeVersion version) {
    uint64_t bits = bits_.load(std::memory_order_relaxed);
    bits_.store(bits | (version.bits_ & NodeVersion::heir_bit), std::memory_order_relaxed);
  }

  // Holder: changed nothing that readers see under a version.
  void unlock() {
    uint64_t bits = bits_.load(std::memory_order_relaxed);
    PGSILO_DCHECK((bits & NodeVersion::lock_bit) != 0 && (bits & NodeVersion::changing_bit) == 0);
    PGSILO_SCHEDULE_POINT();
    bits_.store(bits & ~NodeVersion::lock_bit, std::memory_order_release);
  }

 private:
  bool take(uint64_t bits) {
    // Acquire: pairs with the release of the holder before.
    return bits_.compare_exchange_strong(bits, bits | NodeVersion::lock_bit,
                                         std::memory_order_acquire, std::memory_order_relaxed);
  }

  // What the holder has made of the word, unlocked.
  uint64_t changed_bits() const {
    uint64_t bits = bits_.load(std::memory_order_relaxed);
    PGSILO_DCHECK((bits & NodeVersion::lock_bit) != 0 && (bits & NodeVersion::changing_bit) != 0);
    return bits & ~(NodeVersion::lock_bit | NodeVersion::changing_bit);
  }
  NodeVersion finish_growth(uint64_t clear) {
    constexpr uint64_t removals = NodeVersion::one_growth - NodeVersion::one_removal;
    return publish((changed_bits() & ~(clear | removals)) + NodeVersion::one_growth);
  }
  NodeVersion finish_removal(uint64_t set) {
    return publish((changed_bits() | set) + NodeVersion::one_removal);
  }
  NodeVersion publish(uint64_t bits) {
    PGSILO_SCHEDULE_POINT();
    // Release for stable(); seq_cst for for_validation(): the change precedes its transaction's
    // read of the epoch.
    bits_.store(bits, std::memory_order_seq_cst);
    return NodeVersion(bits);
  }

  std::atomic<uint64_t> bits_;
};

}  // namespace pgsilo
