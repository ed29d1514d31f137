// Where the catalog keeps the encoding of each relation (storage/relation/relation_encoding.h).
//
// Kept in a relation of the catalog's own that SQL does not show (pg_class has PostgreSQL's columns
// only): key relation id u32 big-endian; row version of keys u16, of rows u16, big-endian.
// Relations made before it was noted have none, and version 1.
//
// Thread safety: functions without state.
#pragma once

#include <string_view>

#include "base/strong_id.h"
#include "storage/relation/relation_encoding.h"

namespace pgsilo {

class RelationDirectory;
class Transaction;

inline constexpr RelationId relation_encodings{3};

RelationId relation_of_encoding_key(std::string_view key);
RelationEncoding encoding_of_row(std::string_view row);

// A new relation's, with its catalog rows; when it is dropped. Throw EngineOutcome.
void insert_encoding(Transaction& transaction, RelationDirectory& relations, RelationId id);
void remove_encoding(Transaction& transaction, RelationDirectory& relations, RelationId id);

}  // namespace pgsilo
