// The locks on relations that one owner has, in order of acquisition. What it has of one relation
// is found at the same cost however many there are; holds are added and go at the end.
//
// Thread safety: the owner's fiber adds, removes and reorders, under its owner's latch, and looks
// without it; other threads look and set `queued` under that latch (record_lock.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "storage/relation/lock_mode.h"

namespace pgsilo {

class Relation;

// A weak lock that is only noted here becomes one that is held in the lock's queue when somebody
// wants a strong one.
struct RelationHold {
  Relation* relation = nullptr;
  LockMode mode = LockMode::none;
  bool queued = false;
  bool keeps_writers_out = false;  // LockTable::keep_writers_out()
  bool comes_first = false;        // during bring_forward()
  uint32_t next = 0;               // of its chain: its position + 1, or 0
};

class RelationHolds {
 public:
  RelationHolds() = default;
  // With room for so many, a power of two. Throws std::bad_alloc.
  explicit RelationHolds(size_t capacity) : chains_(capacity) { holds_.reserve(capacity); }

  bool empty() const { return holds_.empty(); }
  size_t size() const { return holds_.size(); }
  bool is_full() const { return holds_.size() == holds_.capacity(); }
  auto begin() const { return holds_.begin(); }
  auto end() const { return holds_.end(); }
  RelationHold& back() { return holds_.back(); }

  // f(hold) for each hold of `relation`, the newest first.
  template <typename F>
  void visit(const Relation* relation, F f) const {
    visit(*this, relation, f);
  }
  template <typename F>
  void visit(const Relation* relation, F f) {
    visit(*this, relation, f);
  }

  // There is room.
  void add(const RelationHold& hold) {
    holds_.push_back(hold);
    link(holds_.size() - 1);
  }
  void pop_back() {
    unlink(holds_.size() - 1);
    holds_.pop_back();
  }
  // Goes on in the memory of `fresh`, which is empty and larger and gets the memory of before.
  void move_to(RelationHolds& fresh) {
    for (const RelationHold& hold : holds_) fresh.add(hold);
    std::swap(holds_, fresh.holds_);
    std::swap(chains_, fresh.chains_);
  }
  // Puts those from position `from` on for which `comes_first(hold)` before the others, in the
  // order they had. The position of the first of the others. Costs what stands behind `from`.
  template <typename F>
  size_t bring_forward(size_t from, F comes_first) {
    for (size_t i = from; i < holds_.size(); ++i) holds_[i].comes_first = comes_first(holds_[i]);
    for (size_t i = holds_.size(); i-- > from;) unlink(i);
    size_t first = from;
    for (size_t i = from; i < holds_.size(); ++i) {
      if (holds_[i].comes_first) std::swap(holds_[first++], holds_[i]);
    }
    for (size_t i = from; i < holds_.size(); ++i) link(i);
    return first;
  }

 private:
  template <typename Holds, typename F>
  static void visit(Holds& holds, const Relation* relation, F f) {
    if (holds.holds_.empty()) return;
    for (uint32_t at = holds.chains_[holds.slot_of(relation)]; at != 0;) {
      auto& hold = holds.holds_[at - 1];
      if (hold.relation == relation) f(hold);
      at = hold.next;
    }
  }
  size_t slot_of(const Relation* relation) const {
    return hash_integer(reinterpret_cast<uintptr_t>(relation)) & (chains_.size() - 1);
  }
  uint32_t& chain(const Relation* relation) { return chains_[slot_of(relation)]; }
  // The newest of all heads its chain.
  void unlink(size_t position) { chain(holds_[position].relation) = holds_[position].next; }
  void link(size_t position) {
    uint32_t& head = chain(holds_[position].relation);
    holds_[position].next = head;
    head = static_cast<uint32_t>(position + 1);
  }

  std::vector<RelationHold> holds_;
  std::vector<uint32_t> chains_;  // by the relation's hash: its newest hold's position + 1, or 0
};

}  // namespace pgsilo
