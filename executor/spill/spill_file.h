// The temporary file of one operator: tapes, each a chain of blocks, written and read while the
// fiber goes on. Blocks that were read for the last time are used again.
//
//   SpillFile file(session_files, budget);
//   TapeWriter writer(file, layout);  writer.append(row) ...;  Tape tape = writer.finish();
//   TapeReader reader(file, layout);  reader.start(tape, keep);  while (const Datum* row =
//   reader.next()) ...
//
// Thread safety: one operator's. It outlives its writers and readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "executor/spill/temporary_files.h"

namespace pgsilo {

// Rows in the order in which they were written.
struct Tape {
  uint64_t first_block = 0;
  uint64_t rows = 0;
  uint64_t bytes = 0;  // of rows
};

class SpillFile {
 public:
  using TransferHandle = TemporaryStorage::TransferHandle;

  // `budget`: bytes that the operator may use, by which blocks are measured.
  SpillFile(TemporaryFiles& files, size_t budget);
  ~SpillFile() { files_.give_back(blocks_ * block_bytes_); }
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  size_t block_bytes() const { return block_bytes_; }
  // How many tapes may be written at a time within the budget.
  size_t fan() const { return fan_; }
  // How many may be read at a time within that and memory_limit.
  size_t affordable_fan() const;
  // Of blocks, those of writers and readers included; what is on its way for nobody is not.
  size_t buffers() const { return buffers_; }

  // --- for writers and readers ---
  // With a buffer, of which the memory was asked for. Throws MemoryLimitReached.
  TransferHandle take_transfer();
  void give_back(TransferHandle transfer);
  // Throws 53400.
  uint64_t new_block();
  void free_block(uint64_t block) { free_blocks_.push_back(block); }
  // Goes on behind it; the buffer comes back some time.
  void write(TransferHandle transfer, uint64_t block);
  // Everything that was written can be read. Throws what failed.
  void settle();
  void begin_read(TransferHandle& transfer, uint64_t block);
  void wait(TransferHandle& transfer) { files_.wait(*transfer); }

  static constexpr size_t smallest_block = size_t{8} << 10;
  static constexpr size_t largest_block = size_t{64} << 10;
  static constexpr size_t least_fan = 4;
  static constexpr size_t most_fan = 128;

 private:
  void reap_oldest();
  void keep(TransferHandle transfer);

  static constexpr size_t most_writes = 2;  // under way
  // As in arenas, little is never asked for: what it takes to merge with the least fan.
  static constexpr size_t free_buffers = 2 * least_fan + most_writes + 1;
  TemporaryFiles& files_;
  const size_t block_bytes_;
  const size_t fan_;
  std::shared_ptr<TemporaryStorage::OpenFile> file_;
  uint64_t blocks_ = 0;
  std::vector<uint64_t> free_blocks_;
  std::vector<TransferHandle> spare_;
  std::deque<TransferHandle> writes_;
  size_t buffers_ = 0;  // that are somewhere
};

}  // namespace pgsilo
