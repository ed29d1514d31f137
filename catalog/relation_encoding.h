// In which encoding the keys and the rows of a relation lie in its tree, its log and its
// checkpoints. Whoever changes the order of keys (key_layout.h) or the layout of rows
// (row_layout.h) adds a version: relations made before keep theirs until they are rewritten, and a
// program that does not know a version refuses the database instead of misreading it.
//
// Kept in a relation of the catalog's own that SQL does not show (pg_class has PostgreSQL's columns
// only): key relation id u32 big-endian; row version of keys u16, of rows u16, big-endian.
// Relations made before it was noted have none, and version 1.
//
// Thread safety: functions without state.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/strong_id.h"

namespace pgsilo {

class RelationDirectory;
class Transaction;

struct RelationEncoding {
  uint16_t keys = 1;
  uint16_t rows = 1;

  bool operator==(const RelationEncoding&) const = default;
};

// What new relations get; versions up to these are known.
inline constexpr RelationEncoding newest_encoding{};
inline constexpr RelationId relation_encodings{3};

RelationId relation_of_encoding_key(std::string_view key);
RelationEncoding encoding_of_row(std::string_view row);

// A new relation's, with its catalog rows; when it is dropped. Throw EngineOutcome.
void insert_encoding(Transaction& transaction, RelationDirectory& relations, RelationId id);
void remove_encoding(Transaction& transaction, RelationDirectory& relations, RelationId id);

}  // namespace pgsilo
