// A hash map whose copies share what they have in common: a copy costs a pointer, a change of one
// copies the few nodes on the way to its entry, whatever the size. For what is published as a whole
// and changed a little at a time. It is a hash array mapped trie (Bagwell), a node's entries and
// children apart (as in CHAMP, Steindorfer and Vinju), so that they are found and walked without
// looking at the empty places.
//
// Hash: any 64 bits, of which the lower ones are used first. What is thrown on the way (of memory)
// leaves the map as it was. Thread safety: as a value; copies may be used and changed by different
// threads.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace pgsilo {

template <typename Key, typename Value, typename Hash>
class PersistentMap {
 public:
  using Entry = std::pair<Key, Value>;
  class Iterator;

  size_t size() const { return size_; }
  Iterator begin() const { return Iterator(root_.get()); }
  Iterator end() const { return Iterator(nullptr); }

  // Null: there is none. The pointer lives as long as some map that has the very entry.
  const Value* find(const Key& key) const {
    uint64_t hash = Hash{}(key);
    const Node* node = root_.get();
    for (int shift = 0; node != nullptr; shift += bits_per_level) {
      if (const Entry* entry = node->entry_at(hash, shift, key)) return &entry->second;
      node = node->child_at(hash, shift);
    }
    return nullptr;
  }

  void set(Key key, Value value) {
    uint64_t hash = Hash{}(key);
    size_t size = size_ + (find(key) == nullptr ? 1 : 0);
    root_ = with(root_.get(), hash, 0, Entry(std::move(key), std::move(value)));
    size_ = size;
  }

  void erase(const Key& key) {
    if (find(key) == nullptr) return;
    root_ = without(*root_, Hash{}(key), 0, key);
    --size_;
  }

 private:
  static constexpr int bits_per_level = 5;
  static constexpr int hash_bits = 64;
  static constexpr int most_levels = hash_bits / bits_per_level + 2;

  struct Node;
  using NodeRef = std::shared_ptr<const Node>;

  // The places for the next bits of the hash: each is empty, has an entry, or a child with all that
  // agrees so far. Where the bits are used up, `entries` are those of one hash, in no places.
  struct Node {
    uint32_t entry_places = 0;
    uint32_t child_places = 0;
    std::vector<Entry> entries;
    std::vector<NodeRef> children;

    static uint32_t place_of(uint64_t hash, int shift) {
      return uint32_t{1} << (hash >> shift & ((1 << bits_per_level) - 1));
    }
    static ptrdiff_t rank(uint32_t places, uint32_t place) {
      return std::popcount(places & (place - 1));
    }

    const Entry* entry_at(uint64_t hash, int shift, const Key& key) const {
      if (shift >= hash_bits) {
        auto found = std::ranges::find(entries, key, &Entry::first);
        return found != entries.end() ? &*found : nullptr;
      }
      uint32_t place = place_of(hash, shift);
      if ((entry_places & place) == 0) return nullptr;
      const Entry& entry = entries[static_cast<size_t>(rank(entry_places, place))];
      return entry.first == key ? &entry : nullptr;
    }
    const Node* child_at(uint64_t hash, int shift) const {
      if (shift >= hash_bits) return nullptr;
      uint32_t place = place_of(hash, shift);
      if ((child_places & place) == 0) return nullptr;
      return children[static_cast<size_t>(rank(child_places, place))].get();
    }

    void add_entry(uint32_t place, Entry entry) {
      entries.insert(entries.begin() + rank(entry_places, place), std::move(entry));
      entry_places |= place;
    }
    Entry take_entry(uint32_t place) {
      auto at = entries.begin() + rank(entry_places, place);
      Entry taken = std::move(*at);
      entries.erase(at);
      entry_places &= ~place;
      return taken;
    }
    void add_child(uint32_t place, NodeRef child) {
      children.insert(children.begin() + rank(child_places, place), std::move(child));
      child_places |= place;
    }
    void remove_child(uint32_t place) {
      children.erase(children.begin() + rank(child_places, place));
      child_places &= ~place;
    }
  };

  // `node` (null: an empty one) with the entry in place of that of its key.
  static NodeRef with(const Node* node, uint64_t hash, int shift, Entry entry) {
    auto copy = node != nullptr ? std::make_shared<Node>(*node) : std::make_shared<Node>();
    if (const Entry* there = copy->entry_at(hash, shift, entry.first)) {
      copy->entries[static_cast<size_t>(there - copy->entries.data())] = std::move(entry);
      return copy;
    }
    if (shift >= hash_bits) {
      copy->entries.push_back(std::move(entry));
      return copy;
    }
    uint32_t place = Node::place_of(hash, shift);
    int below = shift + bits_per_level;
    if (const Node* child = copy->child_at(hash, shift)) {
      copy->children[static_cast<size_t>(Node::rank(copy->child_places, place))] =
          with(child, hash, below, std::move(entry));
    } else if ((copy->entry_places & place) != 0) {
      // Two of one place: both go a level down.
      Entry other = copy->take_entry(place);
      uint64_t other_hash = Hash{}(other.first);
      NodeRef one = with(nullptr, other_hash, below, std::move(other));
      copy->add_child(place, with(one.get(), hash, below, std::move(entry)));
    } else {
      copy->add_entry(place, std::move(entry));
    }
    return copy;
  }

  // `node`, which has the key, without it; null: nothing is left. A node with a single entry is
  // not kept below another, so a map's shape does not depend on what it once had.
  static NodeRef without(const Node& node, uint64_t hash, int shift, const Key& key) {
    auto copy = std::make_shared<Node>(node);
    uint32_t place = shift < hash_bits ? Node::place_of(hash, shift) : 0;
    if (const Entry* there = copy->entry_at(hash, shift, key)) {
      copy->entries.erase(copy->entries.begin() + (there - copy->entries.data()));
      copy->entry_places &= ~place;
      return copy->entries.empty() && copy->children.empty() ? nullptr : copy;
    }
    NodeRef child = without(*node.child_at(hash, shift), hash, shift + bits_per_level, key);
    if (child->children.empty() && child->entries.size() == 1) {
      copy->remove_child(place);
      copy->add_entry(place, child->entries.front());
    } else {
      copy->children[static_cast<size_t>(Node::rank(copy->child_places, place))] = std::move(child);
    }
    return copy;
  }

  NodeRef root_;
  size_t size_ = 0;
};

// Over all entries, in no order that means anything. Valid while a map with the same contents
// lives.
template <typename Key, typename Value, typename Hash>
class PersistentMap<Key, Value, Hash>::Iterator {
 public:
  using value_type = Entry;
  using difference_type = ptrdiff_t;

  Iterator() = default;
  explicit Iterator(const Node* root) {
    if (root != nullptr) path_[depth_++] = {root, 0, 0};
    settle();
  }

  const Entry& operator*() const {
    const Step& step = path_[depth_ - 1];
    return step.node->entries[step.entry];
  }
  const Entry* operator->() const { return &**this; }
  Iterator& operator++() {
    ++path_[depth_ - 1].entry;
    settle();
    return *this;
  }
  Iterator operator++(int) {
    Iterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Iterator& other) const {
    return depth_ == other.depth_ && (depth_ == 0 || &**this == &*other);
  }

 private:
  struct Step {
    const Node* node;
    size_t entry;
    size_t child;
  };

  // A node's entries come before its children.
  void settle() {
    while (depth_ != 0) {
      Step& step = path_[depth_ - 1];
      if (step.entry < step.node->entries.size()) return;
      if (step.child < step.node->children.size()) {
        path_[depth_++] = {step.node->children[step.child++].get(), 0, 0};
      } else {
        --depth_;
      }
    }
  }

  std::array<Step, most_levels> path_{};
  size_t depth_ = 0;
};

}  // namespace pgsilo
