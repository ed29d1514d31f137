// In which encoding the keys and the rows of a relation lie in its tree, its log and its
// checkpoints. Rows 2: entries of a secondary tree leave out a primary key that ends their own key
// (catalog/key_layout.h); all else is as in 1. Whoever changes the order of keys or the layout of
// rows (catalog/key_layout.h, row_layout.h) adds a version: relations made before keep theirs until
// they are rewritten, and a program that does not know a version refuses the database instead of
// misreading it. Storage does not look at it: it belongs to the relation and goes with its rows.
// Thread safety: a value.
#pragma once

#include <cstdint>

namespace pgsilo {

struct RelationEncoding {
  uint16_t keys = 1;
  uint16_t rows = 1;

  bool operator==(const RelationEncoding&) const = default;
};

// What there was before it was noted.
inline constexpr RelationEncoding first_encoding{.keys = 1, .rows = 1};
// What new relations of users get; versions up to these are known.
inline constexpr RelationEncoding newest_encoding{.keys = 1, .rows = 2};

constexpr bool is_known(const RelationEncoding& encoding) {
  return encoding.keys <= newest_encoding.keys && encoding.rows <= newest_encoding.rows;
}

}  // namespace pgsilo
