// A block's payload compressed (docs/log_format.md, "Compression"): as a whole, where that makes
// the block shorter by a unit or more; else it is stored as it is, and reading it costs no copy.
// Thread safety: one owner each.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "base/aligned_bytes.h"
#include "base/compression.h"
#include "wal/layout/log_format.h"

namespace pgsilo {

// Of the writer. Has memory for one block.
class PayloadPacker {
 public:
  // Throws std::bad_alloc.
  explicit PayloadPacker(size_t max_block_bytes) : packed_(new char[max_block_bytes]) {}

  // What is to be stored instead of `payload`, until the next call; empty: the block would not be
  // shorter by a unit.
  std::string_view pack(std::string_view payload, size_t trailer_bytes);

 private:
  Compressor compressor_;
  const std::unique_ptr<char[]> packed_;
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
