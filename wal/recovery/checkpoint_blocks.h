// Reads blocks of a checkpoint, past the page cache, and finds them sound or says why not. Thread
// safety: none; one per thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/aligned_bytes.h"
#include "base/file.h"
#include "wal/recovery/opened_checkpoint.h"

namespace pgsilo {

class CheckpointBlocks {
 public:
  CheckpointBlocks(FileSystem& files, const std::vector<OpenedCheckpointFile>& opened)
      : files_(files), opened_(opened), handles_(opened.size()) {}

  // Of the file of that number in `opened`. The reader's entries are valid until the next call.
  CheckpointFault read(uint32_t file, const CheckpointBlock& block, CheckpointBlockReader* reader);

 private:
  FileResult read_bytes(uint32_t file, const CheckpointBlock& block);

  FileSystem& files_;
  const std::vector<OpenedCheckpointFile>& opened_;
  std::vector<std::unique_ptr<File>> handles_;  // null: not opened yet
  AlignedBytes buffer_;
  uint64_t capacity_ = 0;
};

FileResult open_past_cache(FileSystem& files, const std::string& path, std::unique_ptr<File>* file);
// Exactly `bytes` bytes at `offset`, both multiples of the block unit.
FileResult read_exactly(File& file, char* to, uint64_t bytes, uint64_t offset);

// A block and the number of the file it lies in.
struct PlacedBlock {
  uint32_t file;
  const CheckpointBlock* block;
};
// All blocks in the order of their relations and keys.
std::vector<PlacedBlock> blocks_by_key(const std::vector<OpenedCheckpointFile>& opened);

}  // namespace pgsilo
