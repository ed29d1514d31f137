// The nodes of an index tree: border nodes hold entries, interior nodes lead to them.
// docs/index_tree.md argues why readers may read them without locks.
//
// Who may write what
// - version: by its verbs. Everything readers see under a version is written between begin_change()
// and end_change().
// - parent: guarded by the lock of the node it points to (the lock of the child for a root).
// - BorderNode::previous: guarded by the lock of the node it points to.
// - An entry's layer root may be replaced by a newer root of the same layer under the border node's
// lock without a
//   change of version: both lead to the same keys.
// Pointers are stored with release and loaded with acquire, so that what they point to is
// initialised for who follows them; all other fields are relaxed, ordered by the version word.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "base/racing_vector.h"
#include "storage/epoch/epoch.h"
#include "storage/index/key_slice.h"
#include "storage/index/node_changes.h"
#include "storage/index/node_version.h"
#include "storage/index/permutation.h"
#include "storage/record/record.h"

namespace pgsilo {

class InteriorNode;

class alignas(64) Node {
 public:
  static constexpr size_t cache_lines = 5;

  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  AtomicNodeVersion& version() { return version_; }
  const AtomicNodeVersion& version() const { return version_; }
  // Null for the root of a layer.
  InteriorNode* parent() const {
    PGSILO_SCHEDULE_POINT();
    return parent_.load(std::memory_order_acquire);
  }
  void set_parent(InteriorNode* parent) {
    PGSILO_SCHEDULE_POINT();
    parent_.store(parent, std::memory_order_release);
  }
  // Fetches the whole node, so that its lines arrive together.
  void prefetch() const {
    const char* line = reinterpret_cast<const char*>(this);
    for (size_t i = 0; i < cache_lines; ++i) __builtin_prefetch(line + i * 64);
  }

 protected:
  Node(bool border, bool root) : version_(border, root), parent_(nullptr) {}

 private:
  AtomicNodeVersion version_;
  std::atomic<InteriorNode*> parent_;
};

// Where an entry leads: to the record of its key, or (only with length class `longer`) to the next
// layer, which holds all keys with this prefix. The low bit of the word tells which.
class EntryTarget {
 public:
  EntryTarget() = default;
  static EntryTarget from_bits(uintptr_t bits) { return EntryTarget(bits); }
  static EntryTarget to_record(Record* record) {
    return EntryTarget(reinterpret_cast<uintptr_t>(record));
  }
  static EntryTarget to_layer(Node* root) {
    return EntryTarget(reinterpret_cast<uintptr_t>(root) | layer_bit);
  }
  bool is_layer() const { return (bits_ & layer_bit) != 0; }
  Record* record() const {
    PGSILO_DCHECK(!is_layer());
    return reinterpret_cast<Record*>(bits_);
  }
  // A node that is, or once was, the root of the layer; from the latter, parents lead to the root.
  Node* layer_root() const {
    PGSILO_DCHECK(is_layer());
    return reinterpret_cast<Node*>(bits_ & ~layer_bit);
  }
  uintptr_t bits() const { return bits_; }
  friend bool operator==(EntryTarget, EntryTarget) = default;

 private:
  static constexpr uintptr_t layer_bit = 1;
  explicit EntryTarget(uintptr_t bits) : bits_(bits) {}
  uintptr_t bits_ = 0;
};

// Holds the entries of its layer whose slices lie in [first_slice, last_slice]. The ranges of a
// layer's border nodes follow one another without gap or overlap, from 0 to the largest slice.
// first_slice never changes; last_slice shrinks when the node splits and grows when the node to its
// right is removed. Entries with equal slices are never in different nodes (there are at most 10).
// The leftmost border node of a layer lives as long as the layer.
class BorderNode : public Node {
 public:
  static constexpr int width = Permutation::width;
  // The length class of a slot that holds no entry.
  static constexpr LengthClass no_entry = 0xff;
  // A node with so few entries is merged with a neighbour if both together have at most `merged`,
  // which leaves room for what comes next.
  static constexpr int sparse = width / 3;
  static constexpr int merged = width * 2 / 3;

  BorderNode(bool root, KeySlice first_slice, KeySlice last_slice);

  KeySlice first_slice() const { return first_slice_; }
  KeySlice last_slice() const {
    PGSILO_SCHEDULE_POINT();
    return last_slice_.load(std::memory_order_relaxed);
  }
  bool covers(KeySlice slice) const { return first_slice_ <= slice && slice <= last_slice(); }
  Permutation permutation() const {
    PGSILO_SCHEDULE_POINT();
    return Permutation::from_bits(permutation_.load(std::memory_order_acquire));
  }
  BorderNode* next() const {
    PGSILO_SCHEDULE_POINT();
    return next_.load(std::memory_order_acquire);
  }
  BorderNode* previous() const {
    PGSILO_SCHEDULE_POINT();
    return previous_.load(std::memory_order_acquire);
  }
  KeySlice slice(int slot) const { return slices_[slot].load(std::memory_order_relaxed); }
  LengthClass length(int slot) const { return lengths_[slot].load(std::memory_order_relaxed); }
  EntryTarget target(int slot) const {
    PGSILO_SCHEDULE_POINT();
    return EntryTarget::from_bits(targets_[slot].load(std::memory_order_acquire));
  }

  // No row of a key in the node's range that was deleted later has lost its record so far. Of a
  // removed node: up to its removal. It only grows.
  Epoch newest_gone() const { return Epoch(newest_gone_.load(std::memory_order_relaxed)); }

  // The slot of the entry (slice, length), or -1.
  int find(KeySlice slice, LengthClass length) const {
    int slot = slot_with(slice);
    if (slot < 0 || this->length(slot) == length) return slot;
    return find_among_equals(slice, length);
  }
  // The number of entries before (slice, length).
  int lower_bound(Permutation order, KeySlice slice, LengthClass length) const;

  // Holder of the lock, changing (or owner of an unpublished node).
  void insert_entry(int position, KeySlice slice, LengthClass length, EntryTarget target);
  // Whether the entries that came last came one right behind the other, and one at `position` would
  // go on so: then more of them are to be expected. Three in a row come by chance once in 3,000
  // times.
  bool ascends_to(int position) const {
    return ascended_ >= 3 && position > 0 && permutation().slot(position - 1) == newest_slot_;
  }
  // Of a new node: its entries did not come one by one.
  void forget_ascent() {
    newest_slot_ = no_slot;
    ascended_ = 0;
  }
  void remove_entry(int position);
  void remove_slot(int slot);
  // Keeps the first `count` entries.
  void truncate(int count);
  // Behind its own those of its right neighbour, which is about to go.
  void take_entries(const BorderNode& right);
  // Of a node that goes: from now on `heir` answers for its keys, at that version.
  void bequeath(BorderNode* heir, NodeVersion version);
  // Of one that was removed.
  NodeRef heir() const;
  // Holder of the lock, changing: a record of the node goes, whose row was deleted in that epoch;
  // or the node takes over a range in which one went.
  void note_gone(Epoch deleted) {
    if (deleted > newest_gone()) newest_gone_.store(deleted.value(), std::memory_order_relaxed);
  }
  void set_last_slice(KeySlice slice) {
    PGSILO_SCHEDULE_POINT();
    last_slice_.store(slice, std::memory_order_relaxed);
  }
  void set_next(BorderNode* node) {
    PGSILO_SCHEDULE_POINT();
    next_.store(node, std::memory_order_release);
  }
  // Holder of the lock of the node that previous() is, or was before.
  void set_previous(BorderNode* node) {
    PGSILO_SCHEDULE_POINT();
    previous_.store(node, std::memory_order_release);
  }
  // Holder of the lock.
  void set_target(int slot, EntryTarget target) {
    PGSILO_SCHEDULE_POINT();
    targets_[slot].store(target.bits(), std::memory_order_release);
  }

 private:
  // Any slot that holds the slice, or -1: no branch and no order, for 15 comparisons cost less than
  // one wrong guess.
#ifdef PGSILO_RACING_VECTORS
  int slot_with(KeySlice slice) const {
    const __m128i wanted = _mm_set1_epi64x(static_cast<int64_t>(slice));
    // The last vector ends with the word behind the slices, which counts for nothing.
    auto compare = [&](size_t first) {
      return _mm_cmpeq_epi64(load_racing_vector(&slices_[first]), wanted);
    };
    __m128i low = _mm_packs_epi16(_mm_packs_epi32(compare(0), compare(2)),
                                  _mm_packs_epi32(compare(4), compare(6)));
    __m128i high = _mm_packs_epi16(_mm_packs_epi32(compare(8), compare(10)),
                                   _mm_packs_epi32(compare(12), compare(14)));
    // A byte, then a bit of each.
    unsigned slots = static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
    slots &= (1u << width) - 1;
    return slots == 0 ? -1 : std::countr_zero(slots);
  }
#else
  int slot_with(KeySlice slice) const {
    return last_slot_with(slice, std::make_index_sequence<width>());
  }
#endif
  template <size_t... Slot>
  int last_slot_with(KeySlice slice, std::index_sequence<Slot...>) const {
    int found = -1;
    ((found = this->slice(Slot) == slice ? static_cast<int>(Slot) : found), ...);
    return found;
  }
  int find_among_equals(KeySlice slice, LengthClass length) const;
  void note_ascent(Permutation order, int position);

  static constexpr uint8_t no_slot = width;

  // One cache line with the node's head, then slices, then targets.
  const KeySlice first_slice_;
  std::atomic<KeySlice> last_slice_;
  std::atomic<uint64_t> permutation_;
  std::atomic<BorderNode*> next_{nullptr};
  std::array<std::atomic<LengthClass>, width>
      lengths_;  // no_entry exactly where the permutation has no live slot
  // Of the holder of the lock. A slot that was emptied since may be named: then it errs once.
  uint8_t newest_slot_ : 4 = no_slot;
  uint8_t ascended_ : 4 = 0;
  std::array<std::atomic<KeySlice>, width> slices_;
  std::atomic<BorderNode*> previous_{nullptr};  // of a removed node: its heir
  std::array<std::atomic<uintptr_t>, width> targets_;
  std::atomic<uint64_t> newest_gone_{0};
};
static_assert(sizeof(BorderNode) == Node::cache_lines * 64);

// Leads to count() + 1 children: child i holds the slices in [key(i-1), key(i)). Children are all
// border nodes or all interior nodes.
class InteriorNode : public Node {
 public:
  static constexpr int width = 15;
  // A node with so few separators is merged with a neighbour if both together, and one between
  // them, are at most `merged`.
  static constexpr int sparse = width / 3;
  static constexpr int merged = width * 2 / 3;

  explicit InteriorNode(bool root);

  int count() const {
    PGSILO_SCHEDULE_POINT();
    return static_cast<int>(count_.load(std::memory_order_acquire));
  }
  KeySlice key(int index) const { return keys_[index].load(std::memory_order_relaxed); }
  Node* child(int index) const {
    PGSILO_SCHEDULE_POINT();
    return children_[index].load(std::memory_order_acquire);
  }

  // The index of the child whose range holds `slice`. Two rounds of three comparisons without a
  // branch; unused keys are the largest slice. The minimum corrects for a slice that is the largest
  // one itself, and keeps what a torn read found inside the children.
  int child_index(KeySlice slice) const {
    static_assert(width == 15, "a tree of four by four");
    auto not_above = [&](int index) { return static_cast<int>(key(index) <= slice); };
    int first = 4 * (not_above(3) + not_above(7) + not_above(11));
    int index = first + not_above(first) + not_above(first + 1) + not_above(first + 2);
    int present = count();
    return index < present ? index : present;
  }
  // The index of a child that is there; the caller holds the lock.
  int index_of(const Node* child) const;

  // Holder of the lock, changing (or owner of an unpublished node). These set the parents of the
  // children they are given or take over.
  void set_first_child(Node* child);
  void insert_child(int index, KeySlice key,
                    Node* child);  // becomes child `index`, with `key` to its left; index >= 1
  // Child `index` goes, and with it the key to its left, or to its right if it is the first. The
  // child right of a first one becomes the first.
  void remove_child(int index);
  void set_key(int index, KeySlice key) {
    PGSILO_SCHEDULE_POINT();
    keys_[index].store(key, std::memory_order_relaxed);
  }
  // Moves the children from `index` on, with the keys between them, to the empty `right`; returns
  // the key that was to the left of child `index`, which now separates the two nodes.
  KeySlice move_children_to(int index, InteriorNode* right);
  // Takes over the children of its right neighbour, which is about to go, behind its own;
  // `separator` was between the two.
  void take_children(const InteriorNode& right, KeySlice separator);

 private:
  void set_child(int index, Node* child);
  void set_count(int count) {
    PGSILO_SCHEDULE_POINT();
    count_.store(static_cast<uint64_t>(count), std::memory_order_release);
  }

  std::atomic<uint64_t> count_{0};
  std::array<std::atomic<KeySlice>, width> keys_;
  std::array<std::atomic<Node*>, width + 1> children_;
};
static_assert(sizeof(InteriorNode) == Node::cache_lines * 64);

// The root of the layer that `node` was a root of: `node` itself unless the layer has grown.
inline Node* climb_to_root(Node* node) {
  while (InteriorNode* parent = node->parent()) node = parent;
  return node;
}

}  // namespace pgsilo
