// A tree with the things one thread needs to use it, for tests.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "storage/index/index_tree.h"
#include "storage/transaction/node_set.h"

namespace pgsilo {

inline std::string big_endian(uint64_t number, int bytes = 8) {
  std::string key;
  for (int byte = bytes - 1; byte >= 0; --byte)
    key.push_back(static_cast<char>(number >> (8 * byte)));
  return key;
}

// What a transaction that scans keeps.
class CollectingObserver : public NodeObserver {
 public:
  void observe(NodeRef node) override { beaten_ |= !nodes.add(node); }
  void miss_layer() override { nodes.meet_removal(); }
  bool valid() const { return !beaten_ && nodes.validates(0, 0, nodes.size()); }
  // As a transaction does after its own insert. False: it would have to abort.
  bool apply(const NodeChanges& changes) {
    beaten_ |= nodes.apply(changes) == NodeSet::Fixup::beaten;
    return !beaten_;
  }
  NodeSet nodes;

 private:
  bool beaten_ = false;
};

// Of one that a transaction has registered alone.
inline bool still_validates(NodeRef ref) {
  CollectingObserver set;
  set.observe(ref);
  return set.valid();
}

inline bool is_obsolete(const Record* record) { return record->tid_word().load().is_obsolete(); }

// One thread's view of a tree.
class TreeUser {
 public:
  TreeUser(IndexTree& tree, Reclaimer& reclaimer) : tree_(tree), handle_(reclaimer) {}

  // Between operations: frees what can be freed.
  void rest() {
    pin_.reset();
    handle_.reclaim();
    pin_.emplace(handle_);
  }

  // True if the key went in.
  bool insert(std::string_view key, NodeChanges* changes = nullptr) {
    NodeChanges ignored;
    Record* fresh = tree_.records().create(key, 8, handle_);
    for (;;) {
      Record* there = tree_.insert(fresh, handle_, changes != nullptr ? *changes : ignored);
      if (there == nullptr) return true;
      if (!is_obsolete(there)) break;
      unhook(there);
    }
    tree_.records().destroy(fresh, handle_);
    return false;
  }

  // As unhooking does: the record is made obsolete first. False if there is no such key or somebody
  // else unhooks it.
  bool remove(std::string_view key) {
    Record* record = tree_.get(key).record;
    TidWord seen;
    if (record == nullptr || !record->tid_word().try_lock(LockPurpose::remove, seen)) return false;
    record->tid_word().unlock_obsolete();
    unhook(record);
    return true;
  }
  // An obsolete record: whoever takes it out retires it.
  void unhook(Record* record) {
    Removal removal = tree_.remove(record, handle_);
    if (removal == Removal::not_there) return;
    tree_.records().retire(record, handle_);
    if (merges && removal == Removal::left_sparse) tree_.merge(record->key(), handle_);
  }

  bool contains(std::string_view key) const {
    Record* record = tree_.get(key).record;
    EXPECT_TRUE(record == nullptr || record->key() == key);
    return record != nullptr && !is_obsolete(record);
  }

  std::vector<std::string> scan(const KeyRange& range = {},
                                ScanDirection direction = ScanDirection::forward,
                                NodeObserver* observer = nullptr) const {
    std::vector<std::string> keys;
    ScanCursor cursor(tree_, range, direction, observer);
    while (Record* record = cursor.next()) keys.emplace_back(record->key());
    EXPECT_EQ(cursor.next(), nullptr);
    return keys;
  }

  IndexTree& tree() { return tree_; }
  ReclaimerHandle& handle() { return handle_; }

  // Whether nodes that are left sparse are merged at once, as the product does.
  bool merges = false;

 private:
  IndexTree& tree_;
  ReclaimerHandle handle_;
  std::optional<Pin> pin_{std::in_place, handle_};
};

class TreeTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(tree_.check(), ""); }

  IndexTree::Shape shape() const {
    IndexTree::Shape shape;
    EXPECT_EQ(tree_.check(&shape), "");
    return shape;
  }

  Reclaimer reclaimer_;
  IndexTree tree_{RelationId(1)};
  TreeUser user_{tree_, reclaimer_};
};

}  // namespace pgsilo
