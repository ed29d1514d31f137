// Where the logs of an archive end (docs/backup.md, the archive): somebody may have laid segments
// there, or taken some out.
#include <algorithm>

#include "wal/backup/log_archive.h"
#include "wal/log/segment_reader.h"
#include "wal/recovery/segment_scan.h"

namespace pgsilo {

using log_format::block_unit;

// A last write that was cut short is undone by writing it again. What an archiver that was killed
// had written may be in the page cache alone: it is synced before it counts.
bool LogArchive::find_end(Log& log) {
  FileResult result = log.directory.remove_unfinished_segments();
  std::vector<uint64_t> numbers;
  if (result.ok()) result = log.directory.list_segments(&numbers);
  if (result.ok()) result = files_.sync_directory(log.directory.path());
  if (!result.ok()) return fail("read directory", log.directory.path(), result);
  return numbers.empty() || find_end_among(log, numbers);
}

// The last segment that has a block. One without, the server's next, say, was laid there by
// somebody: it is written over when the log comes to it.
bool LogArchive::find_end_among(Log& log, const std::vector<uint64_t>& numbers) {
  for (size_t i = numbers.size(); i-- > 0;) {
    if (!find_end_in(log, numbers[i])) return false;
    if (log.offset != 0 || i == 0) break;
  }
  return true;
}

bool LogArchive::find_end_in(Log& log, uint64_t segment) {
  log.forget_end();
  log.segment = segment;
  std::string path = log.directory.segment_path(log.segment);
  FileResult result = files_.open(path, {.write = true}, &log.file);
  if (result.ok()) result = log.file->sync_data();
  if (!result.ok()) return fail("sync file", path, result);
  log.logged = log.durable = Epoch();
  SegmentReader reader(files_, path, log.segment, log.directory.log());
  result = reader.open();
  while (result.ok()) {
    std::optional<BlockView> block = reader.next(log.offset, log.offset + block_unit);
    if (!block) break;
    if (log.offset == 0) log.first = block->header;
    log.offset += block->bytes;
    log.next_number = block->header.number + 1;
    log.logged = block->header.largest_epoch;
  }
  if (result.ok()) result = reader.result();
  return result.ok() || fail("read log segment", path, result);
}

// Once it is known what was archived for good. What is behind that an archiver has left that was
// killed, each segment but the last whole; or somebody laid it there.
bool LogArchive::mend_ends() {
  for (const auto& log : logs_) {
    const ArchivedEnd* end = nullptr;
    if (noted_) {
      auto found = std::ranges::find(noted_->ends, log->directory.log(), &ArchivedEnd::log);
      if (found != noted_->ends.end()) end = &*found;
    }
    if (log->segment != 0 && log->offset == 0) {
      log->segment = std::min(log->segment, end != nullptr ? end->segment : 0);
    } else if (end != nullptr && !mend_end(*log, *end)) {
      return false;
    }
    if (noted_ && !find_passages(*log, end != nullptr ? end->segment : 0)) return false;
  }
  are_ends_mended_ = true;
  return true;
}

// It ends before what is missing behind a segment, if the server has the same there, and all again.
bool LogArchive::mend_end(Log& log, const ArchivedEnd& noted) {
  auto of_server = std::ranges::find_if(
      source_blocks_, [&](const auto& each) { return each->log().log() == log.directory.log(); });
  if (log.segment <= noted.segment || of_server == source_blocks_.end()) return true;
  ReadFailure failure;
  if (!log.first_blocks.know(&failure) || !(*of_server)->know(&failure))
    return fail_to_read(failure);
  const FirstBlocks::Segments& archived = log.first_blocks.segments();
  const FirstBlocks::Segments& server = (*of_server)->segments();
  for (uint64_t segment = log.segment; segment > noted.segment; --segment) {
    auto found = server.find(segment);
    auto copy = archived.find(segment);
    if (found == server.end()) return true;
    if (copy == archived.end() || copy->second == found->second) continue;
    // What was copied of an idle start gave way, and what came in its place was laid behind it.
    const bool gave_way = segment < log.segment && segment == noted.segment + 1;
    return !gave_way || find_end_in(log, segment);
  }
  // The noted one may have been pruned.
  const uint64_t first = std::prev(archived.upper_bound(noted.segment))->first;
  return mend_hole(log, (*of_server)->log(), first);
}

bool LogArchive::mend_hole(Log& log, const LogDirectory& server, uint64_t segment) {
  for (bool has_all = true; segment < log.segment; ++segment) {
    if (!has_all_of(log, server, segment, &has_all)) return false;
    if (!has_all || !log.first_blocks.segments().contains(segment + 1))
      return find_end_in(log, segment);
  }
  return true;
}

// `*has`: as many blocks as the server.
bool LogArchive::has_all_of(const Log& log, const LogDirectory& server, uint64_t segment,
                            bool* has) {
  uint64_t blocks[2] = {};
  for (const LogDirectory* directory : {&log.directory, &server}) {
    const std::string path = directory->segment_path(segment);
    SegmentScan scan =
        scan_segment(files_, path, segment, directory->log(), {.keep_all = true, .closed_at = {}});
    if (!scan.result.ok() && scan.result.status != FileStatus::not_found)
      return fail("read log segment", path, scan.result);
    const bool begins = !scan.runs.empty() && scan.runs.front().begin == 0;
    if (begins) blocks[directory == &server] = scan.runs.front().next_number;
  }
  *has = blocks[0] >= blocks[1];
  return true;
}

// From the noted segment on, or from the oldest, from start to start.
bool LogArchive::find_passages(Log& log, uint64_t segment) {
  ReadFailure failure;
  if (segment >= log.segment) return true;
  if (!log.first_blocks.know(&failure)) return fail_to_read(failure);
  const FirstBlocks::Segments& segments = log.first_blocks.segments();
  if (!segments.empty()) segment = std::max(segment, segments.rbegin()->first);
  for (; segment < log.segment; ++segment) {
    auto from = segments.find(segment);
    auto to = segments.find(segment + 1);
    const bool are_known = from != segments.end() && to != segments.end();
    if (!are_known || !from->second || !to->second || from->second == to->second) continue;
    const std::optional<LogBegin>& begin = log.first_blocks.start(*to->second)->begin;
    BlockHeader start;
    start.incarnation = log.first_blocks.start(*from->second)->number;
    start.incarnation_tag = *from->second;
    if (begin) passages_.push_back({start, *begin});
  }
  return true;
}

// Of what was laid there nobody has asked it yet.
bool LogArchive::are_passages_whole() {
  for (const Passage& each : passages_) {
    const bool is_there = start_in(archived_logs(), short_identity(each.to.incarnation)) != nullptr;
    if (!is_there) continue;  // it was set aside
    if (!rests_on_what_was_had(each.to) || !is_whole(each.from, each.to)) return false;
  }
  passages_.clear();
  return true;
}

}  // namespace pgsilo
