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

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/long_work.h"
#include "executor/spill/buffer_plan.h"
#include "executor/spill/temporary_files.h"

namespace pgsilo {

// Rows in the order in which they were written.
struct Tape {
  uint32_t number = 0;  // in its file; its blocks have it
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
  // How many of so many tapes may be merged into one at a time, within the budget and memory_limit.
  // Buffers for that are there from now on.
  size_t begin_merge(size_t tapes);
  // The same of tapes that rows are divided among, a power of two, while two others are read.
  size_t begin_division(size_t most_tapes);
  // Of blocks, those of writers and readers included; what is on its way for nobody is not.
  size_t buffers() const { return buffers_; }

  // --- for writers and readers ---
  // With a buffer. Throws MemoryLimitReached if it is more than were promised.
  TransferHandle take_transfer();
  void give_back(TransferHandle transfer);
  uint32_t new_tape() { return tapes_++; }
  // Throws 53400.
  uint64_t new_block();
  void free_block(uint64_t block) { free_blocks_.push_back(block); }
  // Nobody reads or writes a tape any more: all blocks are free. Throws what failed.
  void forget_tapes();
  // Goes on behind it; the buffer comes back some time.
  void write(TransferHandle transfer, uint64_t block);
  // Everything that was written can be read. Throws what failed.
  void settle();
  void begin_read(TransferHandle& transfer, uint64_t block);
  // Until the block is there. Throws what failed, and XX001 if it is not the tape's.
  void await_read(TransferHandle& transfer, uint32_t tape);
  // So many bytes of rows were copied. May suspend the fiber, and throws what is to end it.
  void did(size_t bytes) { meter_.did(bytes); }

  static constexpr size_t smallest_block = size_t{8} << 10;
  static constexpr size_t largest_block = size_t{64} << 10;

 private:
  bool promise(size_t buffers);
  size_t promised() const { return std::max(promised_, free_spill_buffers); }
  TransferHandle make_buffer();
  void reap_oldest();
  void keep(TransferHandle transfer);

  TemporaryFiles& files_;
  const size_t block_bytes_;
  const size_t fan_;
  std::shared_ptr<TemporaryStorage::OpenFile> file_;
  uint64_t blocks_ = 0;
  uint32_t tapes_ = 0;
  std::vector<uint64_t> free_blocks_;
  std::vector<TransferHandle> spare_;
  std::deque<TransferHandle> writes_;
  size_t buffers_ = 0;   // that are somewhere
  size_t promised_ = 0;  // so many stay here; of more than free ones the memory was asked for
  WorkMeter meter_;
};

}  // namespace pgsilo
