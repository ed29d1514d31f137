// Where a transaction stands: for savepoints, and for what is tried and taken back
// (Transaction::mark()). Thread safety: none; a value.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pgsilo {

struct TransactionMark {
  uint32_t versions = 0;
  uint32_t relations = 0;  // private ones
  uint32_t dropped = 0;
  uint32_t placeholders = 0;
  uint32_t locks = 0;
  uint32_t relation_locks = 0;
  uint32_t referenced = 0;
  size_t reads = 0;
  size_t nodes = 0;
  uint32_t depth = 0;
};

}  // namespace pgsilo
