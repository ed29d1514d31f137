#include "wal/tool/log_dump.h"

#include <algorithm>

#include "wal/layout/log_directory.h"
#include "wal/log/log_begin.h"
#include "wal/log/segment_reader.h"
#include "wal/tool/leftover.h"
#include "wal/tool/printable.h"

namespace pgsilo {
namespace {

using log_format::block_unit;

std::string short_segment_name(uint64_t number) { return segment_name(number).substr(0, 16); }

// The first block of the file that is whole and lies where it says.
FileResult find_whole_block(FileSystem& files, const std::string& path, BlockPlace* place) {
  std::unique_ptr<File> file;
  FileResult result = files.open(path, {}, &file);
  uint64_t bytes = 0;
  if (result.ok()) result = file->size(&bytes);
  std::string block(std::min<uint64_t>(bytes, log_format::max_block_bytes(SIZE_MAX)), '\0');
  for (uint64_t offset = 0; result.ok() && offset < bytes; offset += block_unit) {
    size_t got = 0;
    result = file->read_at(block.data(), std::min(block_unit, block.size()), offset, &got);
    if (!result.ok() || !read_claim(std::string_view(block).substr(0, got))) continue;
    result = file->read_at(block.data(), block.size(), offset, &got);
    std::optional<BlockClaim> claim = read_claim(std::string_view(block).substr(0, got));
    if (!result.ok() || !claim || !claim->intact || claim->place.offset != offset) continue;
    *place = claim->place;
    break;
  }
  return result;
}

}  // namespace

void LogDump::begin_log(std::string name, const Uuid& log) {
  drop_open_record("the end is missing");
  name_ = std::move(name);
  log_ = log;
}

FileResult LogDump::dump_segment(const std::string& path, uint64_t number) {
  path_ = path;
  number_ = number;
  SegmentReader reader(files_, path, number, log_);
  FileResult result = reader.open();
  if (!result.ok()) return result;
  uint64_t at = 0;
  while (!limit_reached()) {
    std::optional<BlockView> block = reader.next(at, reader.bytes());
    if (!block) return reader.result().ok() ? dump_tail(at) : reader.result();
    if (block->offset != at) {
      damaged(path_, at, "nothing that counts up to offset " + std::to_string(block->offset));
      drop_open_record("the rest is damaged");
    }
    dump_block(*block);
    at = block->offset + block->bytes;
  }
  return {};
}

FileResult LogDump::dump_file(const std::string& path) {
  BlockPlace place;
  FileResult result = find_whole_block(files_, path, &place);
  if (!result.ok()) return result;
  std::string name = path.substr(path.find_last_of('/') + 1);
  if (std::optional<uint64_t> number = parse_segment_name(name)) place.segment = *number;
  LogDirectory directory(files_, parent_path(path));
  std::string why;
  if (directory.read_identity(&why) && directory.has_identity()) place.log = directory.log();
  // Of several files of a log the pieces of long records fit together.
  if (directory.path() != name_ || place.log != log_) begin_log(directory.path(), place.log);
  return dump_segment(path, place.segment);
}

void LogDump::finish() {
  drop_open_record("the end is missing");
  if (options_.statistics) statistics_.print(out_);
}

void LogDump::dump_block(const BlockView& block) {
  if (options_.statistics) statistics_.add_block(block);
  bool show = options_.blocks && !options_.statistics;
  if (show) dump_header(block);
  std::optional<std::string_view> payload = payloads_.read(block);
  if (!payload) {
    damaged(path_, block.offset, "a payload that cannot be decompressed");
  } else if (block.header.kind == BlockKind::begin) {
    if (show) dump_begin(block, *payload);
  } else if (block.header.kind == BlockKind::piece) {
    add_piece(block, *payload);
  } else {
    drop_open_record("the rest is missing");
    dump_payload({&path_, number_, block.offset + block.header_bytes, block.header.incarnation},
                 *payload);
  }
  if (show && block.trailer) dump_trailer(block);
}

void LogDump::dump_header(const BlockView& block) {
  const BlockHeader& header = block.header;
  begin_line(number_, block.offset);
  line_ += ", block: " + std::to_string(header.number) +
           ", incarnation: " + std::to_string(header.incarnation) +
           ", bytes: " + std::to_string(block.bytes) +
           ", payload: " + std::to_string(block.payload_bytes) +
           ", recorded D: " + std::to_string(header.recorded_durable.value()) +
           ", largest epoch: " + std::to_string(header.largest_epoch.value());
  if (header.compression == BlockCompression::lz4)
    line_ += ", lz4: " + std::to_string(header.stored_bytes);
  if (header.kind == BlockKind::piece) {
    line_ += ", piece at: " + std::to_string(header.piece_offset) + " of " +
             std::to_string(header.piece_total);
  }
  end_line();
}

void LogDump::dump_begin(const BlockView& block, std::string_view payload) {
  std::optional<LogBegin> begin = decode_log_begin(payload);
  if (!begin) return damaged(path_, block.offset, "a first block that cannot be read");
  begin_line(number_, block.offset + block.header_bytes);
  line_ += ", begin of incarnation: " + begin->incarnation.text() +
           ", after: " + begin->parent.incarnation.text() +
           ", D: " + std::to_string(begin->parent.durable.value()) +
           ", epochs from: " + std::to_string(begin->first_epoch.value()) +
           ", time: " + std::to_string(begin->unix_time_us) +
           ", log: " + std::to_string(begin->index + 1) + " of " + std::to_string(begin->logs) +
           ", written by: " + begin->writer;
  end_line();
}

void LogDump::dump_trailer(const BlockView& block) {
  begin_line(number_, block.offset + block.header_bytes + block.stored.size());
  line_ += ", trailer complete: " + std::to_string(block.trailer->complete.value());
  line_ += ", last data:";
  for (Epoch epoch : block.trailer->last_data) line_ += " " + std::to_string(epoch.value());
  if (block.trailer->unix_time_us != 0)
    line_ += ", time: " + std::to_string(block.trailer->unix_time_us);
  end_line();
}

void LogDump::dump_payload(Place place, std::string_view payload) {
  while (!payload.empty()) {
    std::optional<RecordHeader> header = peek_record(payload);
    if (!header)
      return damaged(*place.path, place.offset, "a record that is longer than its block");
    dump_record(place, payload.substr(0, header->bytes));
    payload.remove_prefix(header->bytes);
    place.offset += header->bytes;
  }
}

void LogDump::dump_record(const Place& place, std::string_view record) {
  RecordReader reader(record);
  Epoch epoch = reader.tid().epoch();
  bool wanted = epoch >= options_.first && epoch <= options_.last;
  bool counted = false;
  for (RedoEntry entry; reader.next(&entry);) {
    if (!wanted || (options_.relation && entry.relation != *options_.relation)) continue;
    if (limit_reached()) return;
    if (!options_.statistics) {
      dump_entry(place, reader.tid(), entry);
    } else {
      if (!counted) statistics_.add_record(place.incarnation, reader.tid(), record.size());
      counted = true;
      statistics_.add_entry(place.incarnation, entry);
    }
    ++printed_;
  }
  if (reader.damaged()) damaged(*place.path, place.offset, "a record whose entries do not fill it");
}

void LogDump::dump_entry(const Place& place, Tid tid, const RedoEntry& entry) {
  begin_line(place.segment, place.offset);
  line_ += ", tid: " + std::to_string(tid.epoch().value()) + "." + std::to_string(tid.sequence());
  line_ += ", relation: " + std::to_string(entry.relation.value()) + ", key: ";
  append_quoted(line_, entry.key);
  if (entry.tombstone) {
    line_ += ", tombstone";
  } else {
    line_ += ", row: ";
    append_quoted(line_, entry.row);
  }
  end_line();
}

void LogDump::add_piece(const BlockView& block, std::string_view payload) {
  const BlockHeader& header = block.header;
  if (header.piece_offset == 0) {
    drop_open_record("the rest is missing");
    open_path_ = path_;
    open_place_ = {&open_path_, number_, block.offset + block.header_bytes, header.incarnation};
  } else if (header.piece_offset != open_record_.size()) {
    drop_open_record("the rest is missing");
    return incomplete(path_, block.offset + block.header_bytes, "the beginning is missing");
  }
  open_record_.append(payload);
  if (open_record_.size() < header.piece_total) return;
  std::string record = std::move(open_record_);
  open_record_.clear();
  dump_payload(open_place_, record);
}

void LogDump::drop_open_record(std::string_view why) {
  if (open_record_.empty()) return;
  open_record_.clear();
  if (limit_reached()) return;
  incomplete(open_path_, open_place_.offset, why);
}

void LogDump::incomplete(const std::string& path, uint64_t offset, std::string_view why) {
  std::fprintf(out_, "incomplete: file \"%s\", offset %llu: a long record, %.*s\n", path.c_str(),
               static_cast<unsigned long long>(offset), static_cast<int>(why.size()), why.data());
}

// Behind the last block that counts.
FileResult LogDump::dump_tail(uint64_t offset) {
  Leftover leftover = Leftover::nothing;
  FileResult result =
      read_leftover(files_, path_, {.log = log_, .segment = number_, .offset = offset}, &leftover);
  if (!result.ok() || leftover == Leftover::nothing || leftover == Leftover::old_block)
    return result;
  damaged(path_, offset, std::string(describe(leftover)) + "; nothing that counts comes after it");
  return result;
}

void LogDump::begin_line(uint64_t segment, uint64_t offset) {
  line_ = "log: " + name_ + ", segment: " + short_segment_name(segment) +
          ", offset: " + std::to_string(offset);
}

void LogDump::end_line() {
  line_ += '\n';
  std::fwrite(line_.data(), 1, line_.size(), out_);
}

void LogDump::damaged(const std::string& path, uint64_t offset, std::string_view what) {
  ++damaged_places_;
  std::fprintf(out_, "damaged: file \"%s\", offset %llu: %.*s\n", path.c_str(),
               static_cast<unsigned long long>(offset), static_cast<int>(what.size()), what.data());
}

}  // namespace pgsilo
