// What a start leaves out of a damaged checkpoint (the setting `recovery_skip_damaged_blocks`):
// blocks of users' relations that are damaged or cannot be read. Never of the catalog's: without
// these nobody knows what the rest is. Thread safety: values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/strong_id.h"

namespace pgsilo {

struct LostBlock {
  // 0: not known, for the file's own list of its blocks is gone; then `blocks` are missing that
  // nobody can name, with `records` together.
  RelationId relation;
  std::string first_key;
  // Keys of the block are up to this one; empty: not known.
  std::string last_key;
  uint64_t blocks = 1;
  uint64_t records = 0;  // when the checkpoint was made; those that the logs have are there
  std::string words;     // which file, where, and what is wrong
};

// For whom a start has been refused for want of it.
inline constexpr char skip_hint[] =
    "\nHINT:  Put a sound copy of the file back, or set recovery_skip_damaged_blocks=on to start "
    "without the rows of what is damaged.";

}  // namespace pgsilo
