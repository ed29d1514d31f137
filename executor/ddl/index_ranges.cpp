#include "executor/ddl/index_ranges.h"

#include <utility>

namespace pgsilo {

void IndexRanges::reset(RelationId tree, std::vector<std::string> cuts) {
  std::vector<IndexRange> ranges(cuts.size() + 1);
  for (size_t i = 0; i < ranges.size(); ++i) {
    // From the last one to the first.
    IndexRange& range = ranges[ranges.size() - 1 - i];
    range.tree = tree;
    if (i > 0) range.from = cuts[i - 1];
    if (i < cuts.size()) range.until = cuts[i];
    range.last = i == cuts.size();
  }
  std::lock_guard lock(mutex_);
  tree_ = tree;
  left_ = std::move(ranges);
  taken_ = 0;
}

std::optional<IndexRange> IndexRanges::take() {
  std::lock_guard lock(mutex_);
  if (left_.empty()) return std::nullopt;
  std::optional<IndexRange> range(std::move(left_.back()));
  left_.pop_back();
  ++taken_;
  return range;
}

void IndexRanges::give_back(IndexRange range) noexcept {
  std::lock_guard lock(mutex_);
  if (range.tree != tree_) return;
  --taken_;
  if (!range.finished) left_.push_back(std::move(range));  // there is room: it was there before
}

bool IndexRanges::done() const {
  std::lock_guard lock(mutex_);
  return left_.empty() && taken_ == 0;
}

bool IndexRanges::empty() const {
  std::lock_guard lock(mutex_);
  return left_.empty();
}

}  // namespace pgsilo
