// A checkpoint's file as version 1 of its format had it, made of one of today. Thread safety: a
// pure function.
#pragma once

#include <string>

#include "base/byte_order.h"
#include "base/checksum.h"
#include "wal/layout/checked_bytes.h"
#include "wal/layout/checkpoint_format.h"

namespace pgsilo {

struct OldCheckpointFile {
  std::string content;  // the blocks, at the same offsets
  std::string footer;
};

inline OldCheckpointFile in_version_1(CheckpointFooter footer,
                                      const CheckpointFileIdentity& identity, std::string content) {
  constexpr size_t old_header_bytes = 64;
  for (CheckpointBlock& block : footer.blocks) {
    char* at = content.data() + block.offset;
    size_t stored = load_le32(at + 56);
    content.replace(block.offset + old_header_bytes, stored,
                    content.substr(block.offset + checkpoint_format::block_header_bytes, stored));
    store_le16(at + 12, 1);
    store_le32(at + 60, 0);
    block.checksum = checksum64(at + 8, old_header_bytes + stored - 8);
    store_le64(at, block.checksum);
  }
  CheckedWriter writer(checkpoint_format::footer_magic, 1);
  writer.uuid(identity.database);
  writer.u64(identity.checkpoint);
  writer.u32(identity.file);
  writer.u64(footer.blocks.size());
  for (const CheckpointBlock& block : footer.blocks) {
    writer.u32(block.relation.value());
    writer.u32(block.records);
    writer.u64(block.offset);
    writer.u64(block.bytes);
    writer.u64(block.checksum);
    writer.text(block.first_key);
  }
  writer.u64(footer.row_ids.size());
  for (const RowIdFloor& floor : footer.row_ids) {
    writer.u32(floor.relation.value());
    writer.u64(floor.floor);
  }
  return {std::move(content), writer.finish()};
}

}  // namespace pgsilo
