// Walks the records of a tree whose keys lie between two bounds, in either direction.
//
//   ScanCursor cursor(tree, range, ScanDirection::forward, &observer);
//   while (Record* record = cursor.next()) ...
//
// The cursor copies one border node at a time under a stable version and yields from the copy. Each
// copied node is reported to the observer with that version before any of its records is yielded;
// the nodes reported when next() has returned a record cover the range from the start up to that
// record, and when it has returned null, the whole range, including nodes that held no key of it
// (I6). A node may be reported twice, at different versions. Records are yielded whatever their TID
// words say: absent ones too.
//
// Between calls the tree may change in any way; the cursor goes on behind the last key it copied.
// Keys that are there from the first call to the last are yielded exactly once, in order.
//
// Thread safety: one owner, under one Pin from construction to the last use; the owner may yield
// its fiber in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/scan_direction.h"
#include "storage/index/key_slice.h"
#include "storage/index/node.h"
#include "storage/index/node_changes.h"

namespace pgsilo {

class IndexTree;

struct KeyBound {
  enum class Kind : uint8_t { unbounded, inclusive, exclusive };
  Kind kind = Kind::unbounded;
  std::string_view key = {};

  static KeyBound none() { return {}; }
  static KeyBound inclusive(std::string_view key) { return {Kind::inclusive, key}; }
  static KeyBound exclusive(std::string_view key) { return {Kind::exclusive, key}; }
};

// The bounds' bytes outlive the cursor. An empty or inverted range yields nothing; the node at its
// start is reported.
struct KeyRange {
  KeyBound lower;
  KeyBound upper;
};

class NodeObserver {
 public:
  virtual ~NodeObserver() = default;
  virtual void observe(NodeRef node) = 0;
  // A layer that an observed node led to, when it was, has gone since, with what was in it.
  virtual void miss_layer() = 0;
};

class ScanCursor {
 public:
  // `observer` may be null: then nobody wants the node set (checkpoints, checks).
  ScanCursor(const IndexTree& tree, const KeyRange& range, ScanDirection direction,
             NodeObserver* observer);
  ScanCursor(const ScanCursor&) = delete;
  ScanCursor& operator=(const ScanCursor&) = delete;

  // The next record, or null at the end of the range. After null, only null. Throws std::bad_alloc
  // when keys with a new common prefix are entered and memory is out; the cursor may be used again
  // after that.
  Record* next() {
    for (;;) {
      Frame& frame = *top_;
      while (frame.at < frame.count) {
        const Entry& entry = frame.entries[frame.at];
        if (entry.target.is_layer()) break;
        ++frame.at;
        return entry.target.record();
      }
      if (!advance()) return nullptr;
    }
  }

  // What next() will probably return `distance` steps behind the next one; null: no idea. It has
  // been prefetched.
  const Record* upcoming(int distance) const {
    int at = top_->at + distance;
    if (at >= top_->count || top_->entries[at].target.is_layer()) return nullptr;
    return top_->entries[at].target.record();
  }

 private:
  struct Entry {
    KeySlice slice;
    EntryTarget target;
    LengthClass length;
  };
  // A bound as one layer sees it. It applies if the layer's prefix is the bound's own: then it cuts
  // through the layer.
  struct LayerBound {
    bool applies = false;
    LengthClass length = 0;
    KeySlice slice = 0;
  };
  // One layer being walked, with a copy of a border node's entries that are in the range, in the
  // order of the walk.
  struct Frame {
    Node* layer_root;
    size_t depth;
    const BorderNode* hint;  // probably covers go_on_at; may be gone. Null: no idea
    KeySlice go_on_at;       // the slice behind what was copied, in the direction of the walk
    bool finished;           // no border node of this layer is left to visit
    LayerBound lower;
    LayerBound upper;
    int count;
    int at;
    Entry entries[BorderNode::width];
  };

  bool advance();
  void open_layer(Frame& frame, Node* root, size_t depth, bool lower_applies,
                  bool upper_applies) const;
  void descend(const Frame& from, const Entry& entry);
  bool copy_next_border(Frame& frame);
  bool copy_border(Frame& frame, const BorderNode* border, NodeVersion version);
  int copy_entries(Frame& frame, const BorderNode* border) const;
  void keep_entries_in_range(Frame& frame) const;
  bool above_lower(const Frame& frame, const Entry& entry) const;
  bool below_upper(const Frame& frame, const Entry& entry) const;
  static void go_on(Frame& frame, bool last, KeySlice slice, const BorderNode* hint);

  KeyRange range_;
  ScanDirection direction_;
  NodeObserver* observer_;
  Frame first_;                // layer 0; most trees need no more
  std::vector<Frame> deeper_;  // layers 1 and up
  Frame* top_ = &first_;
};

}  // namespace pgsilo
