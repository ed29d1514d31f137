// Rows on tapes: how they are written and read (docs/spilling.md has the format).
// Thread safety: one operator's.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/arena.h"
#include "executor/spill/block_format.h"
#include "executor/spill/spill_file.h"
#include "sql/types/datum.h"

namespace pgsilo {

// Which columns of a row are by reference. Row handles are not: they stay where they are until the
// statement ends.
using TapeColumns = std::vector<bool>;

class TapeWriter {
 public:
  TapeWriter(SpillFile& file, const TapeColumns& layout) : file_(file), layout_(layout) {}
  ~TapeWriter() { file_.give_back(std::move(buffer_)); }
  TapeWriter(TapeWriter&& other) noexcept = default;
  TapeWriter& operator=(TapeWriter&&) = delete;

  // Throws MemoryLimitReached if there is no room for its first buffer, and what SpillFile throws.
  void append(const Datum* row);
  uint64_t rows() const { return tape_.rows; }
  // The tape is complete; the next row begins another one.
  Tape finish();

 private:
  BlockHead& head() { return *reinterpret_cast<BlockHead*>(buffer_->buffer.get()); }
  size_t room() const { return file_.block_bytes() - sizeof(BlockHead) - used_; }
  char* end() { return buffer_->buffer.get() + sizeof(BlockHead) + used_; }
  void begin_block();
  void end_block();
  void put(const void* bytes, size_t count);
  void put_row(const Datum* row, uint32_t bytes);

  SpillFile& file_;
  const TapeColumns& layout_;
  Tape tape_;
  SpillFile::TransferHandle buffer_;
  uint64_t block_ = 0;
  size_t used_ = 0;  // of the buffer, the head apart
  std::vector<char> nulls_;
};

class TapeReader {
 public:
  TapeReader(SpillFile& file, const TapeColumns& layout)
      : file_(file), layout_(layout), row_(layout.size() + 1) {}
  ~TapeReader() { stop(); }
  TapeReader(const TapeReader&) = delete;
  TapeReader& operator=(const TapeReader&) = delete;

  // From its first row on. Unless they are `kept`, its blocks are free once they were read.
  void start(const Tape& tape, bool kept);
  // Gives its buffers back; throws nothing.
  void stop();
  // Null behind the last row, as often as it is asked. A row is valid until the next one.
  const Datum* next();
  // Passes rows over.
  void skip(uint64_t rows);
  const Datum* row() const { return row_.data(); }

 private:
  void begin_ahead(uint64_t block);
  void advance();
  const char* find_row();
  const char* gather(uint32_t bytes);
  void take_apart(const char* bytes);

  SpillFile& file_;
  const TapeColumns& layout_;
  std::vector<Datum> row_;  // one more than there are columns: it lies somewhere
  SpillFile::TransferHandle current_;
  SpillFile::TransferHandle ahead_;
  Arena long_row_{ArenaLimit::memory_limit};  // one that lies in several blocks
  uint64_t rows_left_ = 0;
  uint64_t bytes_left_ = 0;  // of the tape, behind the present block
  size_t position_ = 0;      // in the present block, its head included
  size_t end_ = 0;
  uint32_t tape_ = 0;  // its number
  bool kept_ = true;
};

}  // namespace pgsilo
