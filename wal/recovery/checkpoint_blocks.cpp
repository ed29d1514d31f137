#include "wal/recovery/checkpoint_blocks.h"

#include <algorithm>

namespace pgsilo {

FileResult open_past_cache(FileSystem& files, const std::string& path,
                           std::unique_ptr<File>* file) {
  FileResult result = files.open(path, {.direct = true}, file);
  return result.status == FileStatus::unsupported ? files.open(path, {}, file) : result;
}

FileResult read_exactly(File& file, char* to, uint64_t bytes, uint64_t offset) {
  size_t got = 0;
  FileResult result = file.read_at(to, bytes, offset, &got);
  if (result.ok() && got != bytes) result.status = FileStatus::failed;
  return result;
}

std::vector<PlacedBlock> blocks_by_key(const std::vector<OpenedCheckpointFile>& opened) {
  std::vector<PlacedBlock> blocks;
  for (uint32_t file = 0; file < opened.size(); ++file) {
    for (const CheckpointBlock& block : opened[file].footer.blocks)
      blocks.push_back({file, &block});
  }
  std::sort(blocks.begin(), blocks.end(), [](const PlacedBlock& a, const PlacedBlock& b) {
    if (a.block->relation != b.block->relation) return a.block->relation < b.block->relation;
    return a.block->first_key < b.block->first_key;
  });
  return blocks;
}

CheckpointFault CheckpointBlocks::read(uint32_t file, const CheckpointBlock& block,
                                       CheckpointBlockReader* reader) {
  const OpenedCheckpointFile& from = opened_[file];
  FileResult result = read_bytes(file, block);
  if (!result.ok()) {
    return CheckpointFault::unreadable(
        checkpoint_file_named(from.path) + " at offset " + std::to_string(block.offset), result);
  }
  if (reader->open(std::string_view(buffer_.get(), block.bytes), from.identity, block)) return {};
  return damaged_checkpoint(from.path, block.offset);
}

FileResult CheckpointBlocks::read_bytes(uint32_t file, const CheckpointBlock& block) {
  std::unique_ptr<File>& handle = handles_[file];
  if (handle == nullptr) {
    FileResult result = open_past_cache(files_, opened_[file].path, &handle);
    if (!result.ok()) return result;
  }
  if (capacity_ < block.bytes) {
    buffer_ = allocate_aligned(block.bytes);
    capacity_ = block.bytes;
  }
  return read_exactly(*handle, buffer_.get(), block.bytes, block.offset);
}

}  // namespace pgsilo
