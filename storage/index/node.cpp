#include "storage/index/node.h"

#include <algorithm>

namespace pgsilo {

static_assert(sizeof(InteriorNode) == sizeof(BorderNode), "one size of memory block serves both");

BorderNode::BorderNode(bool root, KeySlice first_slice, KeySlice last_slice)
    : Node(/*border=*/true, root),
      first_slice_(first_slice),
      last_slice_(last_slice),
      permutation_(Permutation().bits()) {
  for (auto& length : lengths_) length.store(no_entry, std::memory_order_relaxed);
  for (auto& slice : slices_) slice.store(0, std::memory_order_relaxed);
  for (auto& target : targets_) target.store(0, std::memory_order_relaxed);
}

int BorderNode::find_among_equals(KeySlice slice, LengthClass length) const {
  for (int slot = 0; slot < width; ++slot) {
    if (this->slice(slot) == slice && this->length(slot) == length) return slot;
  }
  return -1;
}

int BorderNode::lower_bound(Permutation order, KeySlice slice, LengthClass length) const {
  auto before = [&](int position) {
    int slot = order.slot(position);
    return compare_in_layer(this->slice(slot), this->length(slot), slice, length) < 0;
  };
  int entries = order.size();
  if (entries > 0 && before(entries - 1)) return entries;  // keys often ascend
  int position = 0;
  while (position < entries && before(position)) ++position;
  return position;
}

void BorderNode::insert_entry(int position, KeySlice slice, LengthClass length,
                              EntryTarget target) {
  Permutation order = permutation();
  int slot = order.free_slot();
  slices_[slot].store(slice, std::memory_order_relaxed);
  lengths_[slot].store(length, std::memory_order_relaxed);
  set_target(slot, target);
  note_ascent(order, position);
  PGSILO_SCHEDULE_POINT();
  permutation_.store(order.with_inserted(position).bits(), std::memory_order_release);
}

void BorderNode::note_ascent(Permutation order, int position) {
  bool ascends = position > 0 && order.slot(position - 1) == newest_slot_;
  ascended_ = ascends ? std::min(ascended_ + 1, 15) : 0;
  newest_slot_ = static_cast<uint8_t>(order.free_slot());
}

void BorderNode::remove_entry(int position) {
  Permutation order = permutation();
  lengths_[order.slot(position)].store(no_entry, std::memory_order_relaxed);
  PGSILO_SCHEDULE_POINT();
  permutation_.store(order.with_removed(position).bits(), std::memory_order_release);
}

void BorderNode::remove_slot(int slot) {
  Permutation order = permutation();
  int position = 0;
  while (order.slot(position) != slot) ++position;
  remove_entry(position);
}

void BorderNode::take_entries(const BorderNode& right) {
  Permutation order = right.permutation();
  for (int i = 0; i < order.size(); ++i) {
    int slot = order.slot(i);
    insert_entry(permutation().size(), right.slice(slot), right.length(slot), right.target(slot));
  }
  forget_ascent();
}

// In a place that holds a slice in nodes with entries: who reads it as one finds the version
// changed.
void BorderNode::bequeath(BorderNode* heir, NodeVersion version) {
  set_previous(heir);
  slices_[0].store(version.bits(), std::memory_order_relaxed);
}

NodeRef BorderNode::heir() const {
  return {previous(), NodeVersion::from_bits(slices_[0].load(std::memory_order_relaxed))};
}

void BorderNode::truncate(int count) {
  for (int position = permutation().size() - 1; position >= count; --position)
    remove_entry(position);
}

InteriorNode::InteriorNode(bool root) : Node(/*border=*/false, root) {
  for (auto& key : keys_) key.store(UINT64_MAX, std::memory_order_relaxed);
  for (auto& child : children_) child.store(nullptr, std::memory_order_relaxed);
}

int InteriorNode::index_of(const Node* child) const {
  int index = 0;
  while (this->child(index) != child) {
    ++index;
    PGSILO_CHECK(index <= count());
  }
  return index;
}

void InteriorNode::set_child(int index, Node* child) {
  PGSILO_SCHEDULE_POINT();
  children_[index].store(child, std::memory_order_release);
}

void InteriorNode::set_first_child(Node* child) {
  PGSILO_DCHECK(count() == 0);
  set_child(0, child);
  child->set_parent(this);
}

void InteriorNode::insert_child(int index, KeySlice key, Node* child) {
  int keys = count();
  PGSILO_DCHECK(keys < width && index >= 1 && index <= keys + 1);
  for (int i = keys; i >= index; --i) {
    set_key(i, this->key(i - 1));
    set_child(i + 1, this->child(i));
  }
  set_key(index - 1, key);
  set_child(index, child);
  child->set_parent(this);
  set_count(keys + 1);
}

void InteriorNode::remove_child(int index) {
  int keys = count();
  PGSILO_DCHECK(keys >= 1 && index <= keys);
  int first_key = index == 0 ? 0 : index - 1;
  for (int i = index; i < keys; ++i) set_child(i, child(i + 1));
  for (int i = first_key; i + 1 < keys; ++i) set_key(i, key(i + 1));
  set_key(keys - 1, UINT64_MAX);
  set_count(keys - 1);
}

KeySlice InteriorNode::move_children_to(int index, InteriorNode* right) {
  int keys = count();
  PGSILO_DCHECK(index >= 1 && index <= keys);
  KeySlice separator = key(index - 1);
  right->set_first_child(child(index));
  for (int i = index + 1; i <= keys; ++i) right->insert_child(i - index, key(i - 1), child(i));
  set_count(index - 1);
  for (int i = index - 1; i < keys; ++i) set_key(i, UINT64_MAX);
  return separator;
}

void InteriorNode::take_children(const InteriorNode& right, KeySlice separator) {
  insert_child(count() + 1, separator, right.child(0));
  for (int i = 0; i < right.count(); ++i)
    insert_child(count() + 1, right.key(i), right.child(i + 1));
}

}  // namespace pgsilo
