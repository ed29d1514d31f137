// Packs records into blocks, compressed if that is wanted, and writes them to the current segment;
// a batch ends in a trailer and a sync. Thread safety: none; the logger's step. counters(): any
// thread. One write is in flight at a time. Invariants: a synced block is never written again;
// blocks follow each other without gaps but at segment ends; when end_batch() returns, every byte
// of the batch is below its file's synced_end() (durability.md item 13). A write or sync that fails
// ends the process (item 10).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/aligned_bytes.h"
#include "base/random.h"
#include "storage/epoch/epoch.h"
#include "wal/log/block_payload.h"
#include "wal/log/log_counters.h"
#include "wal/log/log_format.h"
#include "wal/log/segment_store.h"

namespace pgsilo {

class BatchWriter {
 public:
  BatchWriter(SegmentStore& segments, Uuid log, uint64_t incarnation, bool compress);

  // What trailers on disk prove durable now; goes into the blocks to come.
  void begin_batch(Epoch recorded) { recorded_ = recorded; }
  // True if the record has been copied; false: it is too long for a block, and write_long() is its
  // way.
  bool add(std::string_view record);
  void write_long(std::string_view record);
  void end_batch(const BatchTrailer& trailer);

  const LogCounters& counters() const { return counters_; }

 private:
  char* payload() { return block_.get() + log_format::block_header_bytes; }
  void note(std::string_view record);
  // The block to write: the one that was filled, or that with its payload compressed.
  struct Content {
    char* block;
    size_t stored_bytes;
    BlockCompression compression;
  };
  Content pack_payload(size_t trailer_bytes);
  void write_block(BlockHeader header, const BatchTrailer* trailer);
  void make_room(size_t bytes);
  void count_time(Counter& counter, int64_t started_ns);
  void sync_segment();
  [[noreturn]] void fail(const char* what, const FileResult& result) const;

  SegmentStore& segments_;
  const Uuid log_;
  const uint64_t incarnation_;
  const size_t max_payload_;
  const AlignedBytes block_;
  size_t payload_bytes_ = 0;
  Epoch block_epoch_;  // the largest in the block being filled
  Epoch recorded_;
  Segment segment_;
  uint64_t offset_ = 0;  // of the next block in segment_
  Epoch segment_epoch_;
  uint64_t next_number_ = 0;
  LogCounters counters_;
  int64_t batch_ns_ = 0;  // that the batch has waited for the device
  std::optional<PayloadPacker> packer_;
};

}  // namespace pgsilo
