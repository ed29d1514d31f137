#include <algorithm>

#include "storage/index/index_tree.h"
#include "storage/index/tree_descent.h"

namespace pgsilo {

ScanCursor::ScanCursor(const IndexTree& tree, const KeyRange& range, ScanDirection direction,
                       NodeObserver* observer)
    : range_(range), direction_(direction), observer_(observer) {
  open_layer(first_, tree.root(), 0, range.lower.kind != KeyBound::Kind::unbounded,
             range.upper.kind != KeyBound::Kind::unbounded);
}

void ScanCursor::open_layer(Frame& frame, Node* root, size_t depth, bool lower_applies,
                            bool upper_applies) const {
  frame.layer_root = root;
  frame.depth = depth;
  frame.hint = nullptr;
  frame.finished = false;
  frame.count = 0;
  frame.at = 0;
  auto bound = [&](bool applies, const KeyBound& whole) {
    if (!applies) return LayerBound{};
    KeyCursor cursor(whole.key, depth);
    return LayerBound{true, cursor.length(), cursor.slice()};
  };
  frame.lower = bound(lower_applies, range_.lower);
  frame.upper = bound(upper_applies, range_.upper);
  if (direction_ == ScanDirection::forward) {
    frame.go_on_at = lower_applies ? frame.lower.slice : 0;
  } else {
    frame.go_on_at = upper_applies ? frame.upper.slice : UINT64_MAX;
  }
}

// To the next record or layer of the walk; false at its end.
bool ScanCursor::advance() {
  for (;;) {
    Frame& frame = *top_;
    if (frame.at < frame.count) {
      const Entry& entry = frame.entries[frame.at];
      if (!entry.target.is_layer()) return true;
      descend(frame, entry);
    } else if (frame.finished || !copy_next_border(frame)) {
      if (deeper_.empty()) return false;
      deeper_.pop_back();
      top_ = deeper_.empty() ? &first_ : &deeper_.back();
    }
  }
}

void ScanCursor::descend(const Frame& from, const Entry& entry) {
  auto goes_through = [&](const LayerBound& bound) {
    return bound.applies && bound.slice == entry.slice && bound.length == longer;
  };
  Frame layer;
  open_layer(layer, entry.target.layer_root(), from.depth + 1, goes_through(from.lower),
             goes_through(from.upper));
  deeper_.push_back(
      layer);  // may move the frames, `from` among them, or throw with nothing changed
  Frame& upper = deeper_.size() == 1 ? first_ : deeper_[deeper_.size() - 2];
  ++upper.at;
  top_ = &deeper_.back();
}

// False if the layer is gone. It was empty then, and the node above it, which the observer knows,
// answers for its keys.
bool ScanCursor::copy_next_border(Frame& frame) {
  if (frame.hint != nullptr) {
    NodeVersion version = frame.hint->version().stable();
    if (!version.is_deleted() && frame.hint->covers(frame.go_on_at) &&
        copy_border(frame, frame.hint, version))
      return true;
  }
  for (BorderAt at;;) {
    if (!reach_border(frame.layer_root, frame.go_on_at, at)) {
      if (observer_ != nullptr) observer_->miss_layer();
      frame.finished = true;
      return false;
    }
    if (copy_border(frame, at.node, at.version)) return true;
  }
}

// False if the node changed meanwhile. `version` was read before the node was found to cover
// frame.go_on_at.
bool ScanCursor::copy_border(Frame& frame, const BorderNode* border, NodeVersion version) {
  const int count = copy_entries(frame, border);
  KeySlice last_slice = border->last_slice();
  const BorderNode* next = border->next();
  const BorderNode* previous = border->previous();
  frame.count = 0;
  frame.at = 0;
  if (!border->version().unchanged_since(version)) return false;

  if (observer_ != nullptr) observer_->observe({border, version});
  frame.count = count;
  keep_entries_in_range(frame);
  if (direction_ == ScanDirection::forward) {
    go_on(frame,
          last_slice == UINT64_MAX || (frame.upper.applies && frame.upper.slice <= last_slice),
          last_slice + 1, next);
  } else {
    KeySlice first_slice = border->first_slice();
    go_on(frame, first_slice == 0 || (frame.lower.applies && first_slice <= frame.lower.slice),
          first_slice - 1, previous);
  }
  return true;
}

// Those whose slices lie in what is left of the range, which for a short range are few. It begins
// where the walk goes on: behind what was passed, though a node may have taken over the range of
// one that was removed. Returns how many.
int ScanCursor::copy_entries(Frame& frame, const BorderNode* border) const {
  const bool forward = direction_ == ScanDirection::forward;
  KeySlice lowest = frame.lower.applies ? frame.lower.slice : 0;
  KeySlice highest = frame.upper.applies ? frame.upper.slice : UINT64_MAX;
  (forward ? lowest : highest) = frame.go_on_at;
  const Permutation order = border->permutation();
  const int size = order.size();
  int at = 0, count = 0;
  while (at < size && border->slice(order.slot(at)) < lowest) ++at;
  for (; at < size; ++at) {
    const int slot = order.slot(at);
    const KeySlice slice = border->slice(slot);
    if (slice > highest) break;
    frame.entries[count++] = {slice, border->target(slot), border->length(slot)};
  }
  return count;
}

void ScanCursor::go_on(Frame& frame, bool last, KeySlice slice, const BorderNode* hint) {
  frame.finished = last;
  frame.go_on_at = slice;
  frame.hint = hint;
  if (!last && hint != nullptr) hint->prefetch();
}

// Drops what has the slice of a bound but is outside of it: entries are in order, so all of it lies
// at the ends.
void ScanCursor::keep_entries_in_range(Frame& frame) const {
  while (frame.at < frame.count && !above_lower(frame, frame.entries[frame.at])) ++frame.at;
  while (frame.at < frame.count && !below_upper(frame, frame.entries[frame.count - 1]))
    --frame.count;
  for (int i = frame.at; i < frame.count; ++i) {
    // The caller is about to read the record, and its line holds the key too.
    EntryTarget target = frame.entries[i].target;
    if (!target.is_layer()) __builtin_prefetch(target.record());
  }
  if (direction_ == ScanDirection::backward)
    std::reverse(frame.entries + frame.at, frame.entries + frame.count);
}

bool ScanCursor::above_lower(const Frame& frame, const Entry& entry) const {
  if (!frame.lower.applies) return true;
  int order = compare_in_layer(entry.slice, entry.length, frame.lower.slice, frame.lower.length);
  if (order == 0 && entry.length == longer) {
    if (entry.target.is_layer()) return true;  // the bound cuts through it
    order = entry.target.record()->key().compare(range_.lower.key);
  }
  return order > 0 || (order == 0 && range_.lower.kind == KeyBound::Kind::inclusive);
}

bool ScanCursor::below_upper(const Frame& frame, const Entry& entry) const {
  if (!frame.upper.applies) return true;
  int order = compare_in_layer(entry.slice, entry.length, frame.upper.slice, frame.upper.length);
  if (order == 0 && entry.length == longer) {
    if (entry.target.is_layer()) return true;
    order = entry.target.record()->key().compare(range_.upper.key);
  }
  return order < 0 || (order == 0 && range_.upper.kind == KeyBound::Kind::inclusive);
}

}  // namespace pgsilo
