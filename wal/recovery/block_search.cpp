#include "wal/recovery/block_search.h"

#include <algorithm>
#include <memory>

#include "base/aligned_bytes.h"
#include "storage/relation/system_relations.h"
#include "wal/recovery/checkpoint_blocks.h"

namespace pgsilo {
namespace {

using checkpoint_format::block_unit;

class BlockSearch {
 public:
  BlockSearch(FileSystem& files, const CheckpointFile& file, OpenedCheckpointFile& opened)
      : opened_(opened) {
    FileResult result = open_past_cache(files, opened.path, &handle_);
    uint64_t bytes = 0;
    if (result.ok()) result = handle_->size(&bytes);
    // Behind them lay the footer.
    if (result.ok()) end_ = std::min(bytes, file.footer_offset);
  }

  void run() {
    for (uint64_t at = 0; at + block_unit <= end_;) {
      std::optional<CheckpointBlock> block = block_at(at);
      at += block ? block->bytes : block_unit;
      if (block) opened_.footer.blocks.push_back(std::move(*block));
    }
  }

 private:
  std::optional<CheckpointBlock> block_at(uint64_t offset) {
    if (!read(offset, block_unit)) return std::nullopt;
    uint64_t bytes = claimed_block_bytes({buffer_.get(), block_unit});
    if (bytes < block_unit || bytes > end_ - offset || !read(offset, bytes)) return std::nullopt;
    return describe_block({buffer_.get(), bytes}, opened_.identity, offset);
  }

  bool read(uint64_t offset, uint64_t bytes) {
    if (capacity_ < bytes) {
      buffer_ = allocate_aligned(bytes);
      capacity_ = bytes;
    }
    return read_exactly(*handle_, buffer_.get(), bytes, offset).ok();
  }

  OpenedCheckpointFile& opened_;
  std::unique_ptr<File> handle_;
  uint64_t end_ = 0;
  AlignedBytes buffer_;
  uint64_t capacity_ = 0;
};

}  // namespace

bool search_blocks(FileSystem& files, const CheckpointFile& file, OpenedCheckpointFile* opened,
                   LostBlock* lost) {
  bool whole = file.taken.size() == 1 && file.taken[0].count == file.blocks;
  if (!whole) return false;
  opened->footer = {};
  BlockSearch(files, file, *opened).run();
  uint64_t records = 0;
  uint64_t system = 0;
  for (const CheckpointBlock& block : opened->footer.blocks) {
    records += block.records;
    if (is_system_relation(block.relation)) ++system;
  }
  if (system != file.system_blocks) return false;
  lost->blocks = file.blocks - std::min<uint64_t>(file.blocks, opened->footer.blocks.size());
  lost->records = file.records - std::min(file.records, records);
  return true;
}

}  // namespace pgsilo
