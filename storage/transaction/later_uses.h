// What becomes of a one-shot when it becomes interactive (transaction_interactive.cpp): it takes a
// lock, or rests on something else than on one of its reads. Thread safety: values.
#pragma once

#include <cstdint>

#include "storage/relation/lock_mode.h"
#include "storage/transaction/row_ref.h"

namespace pgsilo {

class Relation;

struct LaterLock {
  Relation* relation;
  LockMode mode;
};

struct LaterRead {
  uint32_t index;  // in the read set
  CatalogVersion version;
};

}  // namespace pgsilo
