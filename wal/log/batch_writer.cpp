#include "wal/log/batch_writer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/server_log.h"

namespace pgsilo {

using log_format::block_header_bytes;

namespace {
// Small enough to be still in a core's cache when the block is sealed, which reads all of it.
constexpr size_t usual_payload = size_t{256} << 10;
// Each write costs the device's round trip, an interrupt, and the flush of its cache.
constexpr size_t largest_write = size_t{4} << 20;
}  // namespace

BatchWriter::BatchWriter(SegmentStore& segments, Uuid log, IncarnationName incarnation,
                         bool compress)
    : segments_(segments),
      log_(log),
      incarnation_(incarnation),
      max_payload_(log_format::max_payload_bytes(segments.segment_bytes())),
      usual_payload_(std::min(max_payload_, usual_payload)),
      max_block_(log_format::max_block_bytes(segments.segment_bytes())),
      buffer_bytes_(std::min(segments.segment_bytes(), largest_write)),
      buffer_(allocate_aligned(buffer_bytes_)) {
  if (compress) packer_.emplace(max_block_);
}

FileResult BatchWriter::write_begin(std::string_view content) {
  std::memcpy(payload(), content.data(), content.size());
  payload_bytes_ = content.size();
  BlockHeader header;
  header.kind = BlockKind::begin;
  finish_block(header, nullptr);
  FileResult result = segment_.file->write_at(buffer_.get(), sealed_end_, 0);
  if (result.ok() && segment_.file->synced_end() < offset_) result = segment_.file->sync_data();
  sealed_begin_ = sealed_end_ = 0;
  return result;
}

void BatchWriter::note(std::string_view record) {
  std::optional<RecordHeader> header = peek_record(record);
  block_epoch_ = std::max(block_epoch_, header->tid.epoch());
  block_system_ |= header->system;
  counters_.records.add();
  counters_.record_bytes.add(record.size());
}

bool BatchWriter::add(std::string_view record) {
  if (record.size() > max_payload_) return false;
  if (payload_bytes_ != 0 && payload_bytes_ + record.size() > usual_payload_)
    finish_block(BlockHeader{}, nullptr);
  std::memcpy(payload() + payload_bytes_, record.data(), record.size());
  payload_bytes_ += record.size();
  note(record);
  return true;
}

void BatchWriter::write_long(std::string_view record) {
  if (payload_bytes_ != 0) finish_block(BlockHeader{}, nullptr);
  note(record);
  Epoch epoch = block_epoch_;
  bool system = block_system_;
  for (size_t at = 0; at < record.size(); at += max_payload_) {
    std::string_view piece = record.substr(at, max_payload_);
    std::memcpy(payload(), piece.data(), piece.size());
    payload_bytes_ = piece.size();
    block_epoch_ = epoch;
    block_system_ = system;
    BlockHeader header;
    header.kind = BlockKind::piece;
    header.piece_offset = at;
    header.piece_total = record.size();
    finish_block(header, nullptr);
  }
}

void BatchWriter::end_batch(const BatchTrailer& trailer) {
  finish_block(BlockHeader{}, &trailer);
  sync_segment();
  counters_.batches.add();
  counters_.batch_latency.add(batch_ns_);
  counters_.longest_batch_ns.raise_to(static_cast<uint64_t>(batch_ns_));
  batch_ns_ = 0;
}

BatchWriter::Stored BatchWriter::pack_payload(size_t trailer_bytes) {
  if (packer_) {
    std::string_view packed = packer_->pack({payload(), payload_bytes_}, trailer_bytes);
    if (!packed.empty()) {
      std::memcpy(payload(), packed.data(), packed.size());
      return {packed.size(), BlockCompression::lz4};
    }
  }
  return {payload_bytes_, BlockCompression::none};
}

void BatchWriter::finish_block(BlockHeader header, const BatchTrailer* trailer) {
  size_t trailer_size =
      trailer == nullptr ? 0 : log_format::trailer_bytes(trailer->last_data.size());
  size_t around = block_header_bytes + trailer_size;
  Stored stored = pack_payload(trailer_size);
  size_t bytes = log_format::round_up(around + stored.bytes);
  make_room(bytes);
  segment_epoch_ = std::max(segment_epoch_, block_epoch_);
  segment_system_ |= block_system_;
  header.compression = stored.compression;
  header.system = block_system_;
  header.system_before = offset_ == 0 && system_before_;
  header.incarnation = incarnation_.number;
  header.incarnation_tag = incarnation_.tag;
  header.number = next_number_++;
  header.recorded_durable = recorded_;
  header.largest_epoch = segment_epoch_;
  BlockPlace place{.log = log_, .segment = segment_.number, .offset = offset_};
  PGSILO_CHECK(seal_block(block(), place, header, stored.bytes, trailer) == bytes);
  counters_.bytes_saved.add(log_format::round_up(around + payload_bytes_) - bytes);
  offset_ += bytes;
  sealed_end_ += bytes;
  segments_.consumed(offset_, segment_.bytes);
  payload_bytes_ = 0;
  block_epoch_ = Epoch(0);
  block_system_ = false;
  if (trailer == nullptr && buffer_bytes_ - sealed_end_ >= max_block_) return;
  write_sealed();
  sealed_begin_ = sealed_end_ = 0;
}

void BatchWriter::write_sealed() {
  size_t bytes = sealed_end_ - sealed_begin_;
  if (bytes == 0) return;
  int64_t started_ns = monotonic_ns();
  FileResult result =
      segment_.file->write_at(buffer_.get() + sealed_begin_, bytes, offset_ - bytes);
  if (!result.ok()) fail("write", offset_ - bytes, result);
  sealed_begin_ = sealed_end_;
  bool durable = segment_.file->synced_end() >= offset_;
  count_time(durable ? counters_.sync_ns : counters_.write_ns, started_ns);
  counters_.writes.add();
  counters_.bytes.add(bytes);
}

void BatchWriter::count_time(Counter& counter, int64_t started_ns) {
  int64_t passed_ns = monotonic_ns() - started_ns;
  counter.add(static_cast<uint64_t>(passed_ns));
  batch_ns_ += passed_ns;
}

void BatchWriter::make_room(size_t bytes) {
  if (segment_.file != nullptr) {
    if (segment_.bytes - offset_ >= bytes) return;
    write_sealed();
    sync_segment();
  }
  segment_ = segments_.take(next_number_, complete_);
  PGSILO_CHECK(segment_.bytes >= bytes);
  offset_ = 0;
  segment_epoch_ = Epoch(0);
  system_before_ = std::exchange(segment_system_, false);
}

void BatchWriter::sync_segment() {
  if (segment_.file->synced_end() < offset_) {
    int64_t started_ns = monotonic_ns();
    FileResult result = segment_.file->sync_data();
    if (!result.ok()) fail("sync", offset_, result);
    count_time(counters_.sync_ns, started_ns);
  }
  PGSILO_CHECK(segment_.file->synced_end() >= offset_);
}

void BatchWriter::fail(const char* what, uint64_t offset, const FileResult& result) const {
  log_last_words(
      "could not " + std::string(what) + " log segment \"" + segment_.path + "\" at offset " +
          std::to_string(offset) + ": " + result.text(),
      "The server stops: what the log holds is uncertain, and only a restart finds out.");
  std::abort();
}

}  // namespace pgsilo
