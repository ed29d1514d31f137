// Packs records into blocks, compressed if that is wanted, and writes them to the current segment,
// as many at once as its buffer holds; a batch ends in a trailer and a sync. Thread safety: none;
// the logger's step. counters(): any thread. One write is in flight at a time. Invariants: a synced
// block is never written again; blocks follow each other without gaps but at segment ends; when
// end_batch() returns, every byte of the batch is below its file's synced_end() (base/file.h).
// A write or sync that fails ends the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/aligned_bytes.h"
#include "base/random.h"
#include "storage/epoch/epoch.h"
#include "wal/layout/log_format.h"
#include "wal/log/block_payload.h"
#include "wal/log/log_counters.h"
#include "wal/log/segment_store.h"

namespace pgsilo {

class BatchWriter {
 public:
  BatchWriter(SegmentStore& segments, Uuid log, IncarnationName incarnation, bool compress);

  // Writes the incarnation's first block and makes it durable; before anything else. A failure
  // leaves the writer of no use.
  FileResult write_begin(std::string_view payload);
  // `recorded`: what trailers on disk prove durable now; goes into the blocks to come. `complete`:
  // what the trailer will say.
  void begin_batch(Epoch recorded, Epoch complete) {
    recorded_ = recorded;
    complete_ = complete;
  }
  // True if the record has been copied; false: it is too long for a block, and write_long() is its
  // way.
  bool add(std::string_view record);
  void write_long(std::string_view record);
  void end_batch(const BatchTrailer& trailer);

  // Numbers given so far; all on disk when end_batch() or write_begin() returns.
  uint64_t blocks() const { return next_number_; }
  const LogCounters& counters() const { return counters_; }

 private:
  // Of the block that is being filled.
  char* block() { return buffer_.get() + sealed_end_; }
  char* payload() { return block() + log_format::block_header_bytes; }
  void note(std::string_view record);
  // Compresses the payload in its place if that pays.
  struct Stored {
    size_t bytes;
    BlockCompression compression;
  };
  Stored pack_payload(size_t trailer_bytes);
  // Ends the block. It is written when the batch ends or there is no room for another one.
  void finish_block(BlockHeader header, const BatchTrailer* trailer);
  void make_room(size_t bytes);
  void write_sealed();
  void count_time(Counter& counter, int64_t started_ns);
  void sync_segment();
  [[noreturn]] void fail(const char* what, uint64_t offset, const FileResult& result) const;

  SegmentStore& segments_;
  const Uuid log_;
  const IncarnationName incarnation_;
  const size_t max_payload_;
  const size_t usual_payload_;  // records that do not fit into this begin another block
  const size_t max_block_;
  const size_t buffer_bytes_;
  // Sealed blocks that follow each other on disk, then the one that is being filled; there is room
  // for the longest.
  const AlignedBytes buffer_;
  size_t sealed_begin_ = 0;
  size_t sealed_end_ = 0;
  size_t payload_bytes_ = 0;
  Epoch block_epoch_;          // the largest in the block being filled
  bool block_system_ = false;  // it holds entries of system relations
  Epoch recorded_;
  Epoch complete_;
  Segment segment_;
  uint64_t offset_ = 0;  // of the block being filled in segment_, if it fits there
  Epoch segment_epoch_;
  bool segment_system_ = false;  // it holds entries of system relations
  bool system_before_ = false;   // so did the one before
  uint64_t next_number_ = 0;
  LogCounters counters_;
  int64_t batch_ns_ = 0;  // that the batch has waited for the device
  std::optional<PayloadPacker> packer_;
};

}  // namespace pgsilo
