// A block's payload compressed (docs/log_format.md, "Compression"): as a whole, where that makes
// the block shorter by a unit or more; else it is stored as it is, and reading it costs no copy.
// Thread safety: one owner each.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/aligned_bytes.h"
#include "base/compression.h"
#include "wal/log/log_format.h"

namespace pgsilo {

// Of the writer. Has memory for one block.
class PayloadPacker {
 public:
  // Throws std::bad_alloc.
  explicit PayloadPacker(size_t max_block_bytes) : block_(allocate_aligned(max_block_bytes)) {}

  // Compresses `payload` into block(), behind the place of the header. What it takes there; 0: the
  // block would not be shorter by a unit.
  size_t pack(std::string_view payload, size_t trailer_bytes);
  // To be sealed and written instead of the block that holds the payload itself.
  char* block() { return block_.get(); }

 private:
  Compressor compressor_;
  const AlignedBytes block_;
};

// Of a reader. Takes memory for a payload when it meets the first compressed one.
class PayloadReader {
 public:
  // The block's payload, in the block or until the next call; none: it is no compressed payload of
  // the size it claims, which the checksum all but rules out.
  std::optional<std::string_view> read(const BlockView& block);

 private:
  AlignedBytes raw_;
};

}  // namespace pgsilo
