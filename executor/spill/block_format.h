// Blocks of temporary files (docs/spilling.md): a head, then a part of a tape's rows. Blocks of a
// tape are linked. Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/checksum.h"

namespace pgsilo {

struct BlockHead {
  uint64_t checksum = 0;  // of what follows, by the block's number
  uint64_t next = 0;      // of the tape; meaningless in its last block
  uint32_t bytes = 0;     // of rows
  uint32_t tape = 0;      // its number in the file
};
static_assert(sizeof(BlockHead) == 24);

inline uint64_t block_checksum(const char* block, uint64_t number) {
  const auto* head = reinterpret_cast<const BlockHead*>(block);
  return checksum64(block + sizeof head->checksum,
                    sizeof *head - sizeof head->checksum + head->bytes, number);
}

// How many bytes of it are to be written.
inline size_t seal_block(char* block, uint64_t number) {
  auto* head = reinterpret_cast<BlockHead*>(block);
  head->checksum = block_checksum(block, number);
  return sizeof *head + head->bytes;
}

// `bytes` of it were read.
inline bool is_block_whole(const char* block, size_t bytes, uint64_t number) {
  const auto* head = reinterpret_cast<const BlockHead*>(block);
  return bytes >= sizeof *head && head->bytes <= bytes - sizeof *head &&
         head->checksum == block_checksum(block, number);
}

}  // namespace pgsilo
