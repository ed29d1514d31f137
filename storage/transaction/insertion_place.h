// Where an insert puts its row (Silo section 4.5). Thread safety: values.
#pragma once

#include "storage/record/record.h"

namespace pgsilo {

class Relation;

// An absent record that a transaction has hooked in, and unhooks unless it makes its row.
struct Placeholder {
  Relation* relation;
  Record* record;
};

// The record of the key: the one that was in the tree, or the transaction's new placeholder.
struct InsertionPlace {
  Record* record = nullptr;
  // A new one, and the key had no row when the transaction validated last.
  bool is_lasting = false;
};

}  // namespace pgsilo
