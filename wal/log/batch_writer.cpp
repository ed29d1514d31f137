#include "wal/log/batch_writer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/check.h"
#include "base/clock.h"

namespace pgsilo {

using log_format::block_header_bytes;

BatchWriter::BatchWriter(SegmentStore& segments, Uuid log, uint64_t incarnation, bool compress)
    : segments_(segments),
      log_(log),
      incarnation_(incarnation),
      max_payload_(log_format::max_payload_bytes(segments.segment_bytes())),
      block_(allocate_aligned(log_format::max_block_bytes(segments.segment_bytes()))) {
  if (compress) packer_.emplace(log_format::max_block_bytes(segments.segment_bytes()));
}

void BatchWriter::note(std::string_view record) {
  block_epoch_ = std::max(block_epoch_, peek_record(record)->tid.epoch());
  counters_.records.add();
  counters_.record_bytes.add(record.size());
}

bool BatchWriter::add(std::string_view record) {
  if (record.size() > max_payload_) return false;
  if (payload_bytes_ + record.size() > max_payload_) write_block(BlockHeader{}, nullptr);
  std::memcpy(payload() + payload_bytes_, record.data(), record.size());
  payload_bytes_ += record.size();
  note(record);
  return true;
}

void BatchWriter::write_long(std::string_view record) {
  if (payload_bytes_ != 0) write_block(BlockHeader{}, nullptr);
  note(record);
  Epoch epoch = block_epoch_;
  for (size_t at = 0; at < record.size(); at += max_payload_) {
    std::string_view piece = record.substr(at, max_payload_);
    std::memcpy(payload(), piece.data(), piece.size());
    payload_bytes_ = piece.size();
    block_epoch_ = epoch;
    BlockHeader header;
    header.kind = BlockKind::piece;
    header.piece_offset = at;
    header.piece_total = record.size();
    write_block(header, nullptr);
  }
}

void BatchWriter::end_batch(const BatchTrailer& trailer) {
  write_block(BlockHeader{}, &trailer);
  sync_segment();
  counters_.batches.add();
  counters_.batch_latency.add(batch_ns_);
  counters_.longest_batch_ns.raise_to(static_cast<uint64_t>(batch_ns_));
  batch_ns_ = 0;
}

BatchWriter::Content BatchWriter::pack_payload(size_t trailer_bytes) {
  if (packer_) {
    if (size_t packed = packer_->pack({payload(), payload_bytes_}, trailer_bytes))
      return {packer_->block(), packed, BlockCompression::lz4};
  }
  return {block_.get(), payload_bytes_, BlockCompression::none};
}

void BatchWriter::write_block(BlockHeader header, const BatchTrailer* trailer) {
  size_t trailer_size =
      trailer == nullptr ? 0 : log_format::trailer_bytes(trailer->last_data.size());
  size_t around = block_header_bytes + trailer_size;
  Content content = pack_payload(trailer_size);
  size_t bytes = log_format::round_up(around + content.stored_bytes);
  make_room(bytes);
  segment_epoch_ = std::max(segment_epoch_, block_epoch_);
  header.compression = content.compression;
  header.incarnation = incarnation_;
  header.number = next_number_++;
  header.recorded_durable = recorded_;
  header.largest_epoch = segment_epoch_;
  BlockPlace place{.log = log_, .segment = segment_.number, .offset = offset_};
  PGSILO_CHECK(seal_block(content.block, place, header, content.stored_bytes, trailer) == bytes);
  int64_t started_ns = monotonic_ns();
  FileResult result = segment_.file->write_at(content.block, bytes, offset_);
  if (!result.ok()) fail("write", result);
  offset_ += bytes;
  bool durable = segment_.file->synced_end() >= offset_;
  count_time(durable ? counters_.sync_ns : counters_.write_ns, started_ns);
  counters_.writes.add();
  counters_.bytes.add(bytes);
  counters_.bytes_saved.add(log_format::round_up(around + payload_bytes_) - bytes);
  segments_.consumed(offset_, segment_.bytes);
  payload_bytes_ = 0;
  block_epoch_ = Epoch(0);
}

void BatchWriter::count_time(Counter& counter, int64_t started_ns) {
  int64_t passed_ns = monotonic_ns() - started_ns;
  counter.add(static_cast<uint64_t>(passed_ns));
  batch_ns_ += passed_ns;
}

void BatchWriter::make_room(size_t bytes) {
  if (segment_.file != nullptr) {
    if (segment_.bytes - offset_ >= bytes) return;
    sync_segment();
  }
  segment_ = segments_.take(next_number_);
  PGSILO_CHECK(segment_.bytes >= bytes);
  offset_ = 0;
  segment_epoch_ = Epoch(0);
}

void BatchWriter::sync_segment() {
  if (segment_.file->synced_end() < offset_) {
    int64_t started_ns = monotonic_ns();
    FileResult result = segment_.file->sync_data();
    if (!result.ok()) fail("sync", result);
    count_time(counters_.sync_ns, started_ns);
  }
  PGSILO_CHECK(segment_.file->synced_end() >= offset_);
}

void BatchWriter::fail(const char* what, const FileResult& result) const {
  std::fprintf(stderr,
               "pgsilo: could not %s log segment \"%s\" at offset %llu: %s\n"
               "pgsilo: stopping: what the log holds is uncertain, and only a restart finds out\n",
               what, segment_.path.c_str(), static_cast<unsigned long long>(offset_),
               result.text().c_str());
  std::abort();
}

}  // namespace pgsilo
