// What is left of a table for an index build (docs/index_build.md): ranges of its keys. Who works
// takes one, adds the entries of its rows from its beginning on, and gives back what is left of it.
// Thread safety: IndexRanges: any thread; its mutex is held for moves of strings only.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/strong_id.h"
#include "storage/index/scan_cursor.h"

namespace pgsilo {

struct IndexRange {
  RelationId tree;  // whose keys they are
  std::string from;
  bool begun = false;  // `from` is behind us
  std::string until;   // before it
  bool last = false;   // to the end of the tree instead
  bool finished = false;

  // As long as the range stays as it is.
  KeyRange keys() const {
    return {begun ? KeyBound::exclusive(from) : KeyBound::inclusive(from),
            last ? KeyBound::none() : KeyBound::exclusive(until)};
  }
};

class IndexRanges {
 public:
  // All of that tree, cut at these ascending keys. What is out of another tree is forgotten. Throws
  // std::bad_alloc.
  void reset(RelationId tree, std::vector<std::string> cuts);
  // None is left for the moment.
  std::optional<IndexRange> take();
  // What was taken, as far as it has not been finished.
  void give_back(IndexRange range) noexcept;
  // Nothing is left and nobody has taken anything.
  bool done() const;
  bool empty() const;

 private:
  mutable std::mutex mutex_;
  RelationId tree_;
  std::vector<IndexRange> left_;  // the next one last
  size_t taken_ = 0;              // of the tree
};

}  // namespace pgsilo
