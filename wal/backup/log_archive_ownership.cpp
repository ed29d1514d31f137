// Whether what the archive has of a segment is the server's (docs/backup.md, what the server lost).
#include "wal/backup/archived_starts.h"
#include "wal/backup/log_archive.h"
#include "wal/log/segment_reader.h"

namespace pgsilo {

using log_format::block_unit;

bool LogArchive::is_same(const LogDirectory& source, Log& log) {
  std::optional<BlockHeader> first;
  std::optional<LogBegin> begin;
  if (!read_first(source, log.segment, &first, &begin)) return false;
  // One that is damaged tells nothing, and the blocks behind it tell whose they are.
  if (!first || (same_incarnation(*first, log.first) && first->number == log.first.number))
    return true;
  if (begin && is_needed(log, first->incarnation, *begin)) return false;
  if (begin && gave_way(log, first->incarnation, *begin)) {
    log.offset = log.next_number = 0;
    return rests_on_what_was_had(*begin);
  }
  return !call_failed_ && is_others(source, log);
}

// Earlier versions went on from a start that logged nothing but made a checkpoint: where another
// one began in its place, no restore gets past it without its begin block.
bool LogArchive::is_needed(const Log& log, uint64_t start, const LogBegin& now) {
  if (log.first.kind != BlockKind::begin || log.next_number != 1) return false;
  ArchivedStarts& known = starts();
  const uint64_t heir = known.heir_of(log.first.incarnation_tag, now);
  if (known.failure().happened()) {
    fail_to_read(known.failure());
    return true;
  }
  if (heir == 0) return false;
  why_ = "start " + std::to_string(start) + " of the server has begun in the place of start " +
         std::to_string(log.first.incarnation) + ", which is archived as \"" +
         log.directory.segment_path(log.segment) + "\", and start " + std::to_string(heir) +
         " rests on that\nHINT:  Begin a new archive, and take a new backup.";
  return true;
}

// Whether the server has begun a later start in the place of what is archived: of a begin block
// that stood alone, or of what the archiver had read before it was durable, and the server lost.
bool LogArchive::gave_way(const Log& log, uint64_t start, const LogBegin& now) {
  const uint64_t tag = log.first.incarnation_tag;
  bool stood_alone = log.first.kind == BlockKind::begin && log.next_number == 1;
  ArchivedStarts& known = starts();
  const ArchivedStarts::Extent archived = known.extent(tag);
  std::optional<LogBegin> own = known.begin_of(tag);
  std::optional<Epoch> counted = known.counted(log.first, now);
  if (known.failure().happened()) return fail_to_read(known.failure());
  // One that died before the control file named it left its number.
  if (start == log.first.incarnation)
    return stood_alone && own && own->parent == now.parent && !archived.has_data;
  if (start < log.first.incarnation) return false;
  if (!counted) return stood_alone && !archived.has_data;
  // Of a start that counts the begin block stays.
  bool stays = log.first.number == 0 && (!own || own->first_epoch <= *counted);
  return !stays && archived.recorded <= *counted && holds_nothing_up_to(log, *counted);
}

bool LogArchive::is_others(const LogDirectory& source, const Log& log) {
  return is_others(source, log, log.segment);
}

bool LogArchive::is_others(const LogDirectory& source, const Log& log, uint64_t segment) {
  why_ = "log segment \"" + source.segment_path(segment) +
         "\" is not the one that was archived as \"" + log.directory.segment_path(segment) +
         "\": it is of another copy of this database, or was put back from one\nHINT:  Begin a new "
         "archive, and take a new backup.";
  return false;
}

// No record of an epoch up to there is in the archived segment, though a batch without data may be;
// and nothing that says that later ones were durable.
bool LogArchive::holds_nothing_up_to(const Log& log, Epoch epoch) {
  std::string path = log.directory.segment_path(log.segment);
  SegmentReader reader(files_, path, log.segment, log.directory.log());
  FileResult result = reader.open();
  if (!result.ok()) return fail("read log segment", path, result);
  bool data = false;
  for (uint64_t at = 0; at < log.offset;) {
    std::optional<BlockView> block = reader.next(at, at + block_unit);
    if (!reader.result().ok()) return fail("read log segment", path, reader.result());
    if (!block) return false;
    data |= block->header.kind != BlockKind::begin && block->payload_bytes != 0;
    if (block->header.recorded_durable > epoch) return false;
    if (block->trailer && data && block->trailer->complete <= epoch) return false;
    data &= !block->trailer;
    at += block->bytes;
  }
  return true;
}

// A server that was restored has all of the start that it went on from, or is another copy, which
// had gone on. Of a segment that is there no more nothing is known.
bool LogArchive::is_had(const LogDirectory& source, const Log& log, const LogBegin& successor) {
  if (!restored_ || successor.parent != *restored_) return true;
  std::string path = source.segment_path(log.segment);
  SegmentReader reader(files_, path, log.segment, source.log());
  FileResult result = reader.open();
  uint64_t next_number = 0;
  for (uint64_t at = 0; result.ok() && next_number < log.next_number;) {
    std::optional<BlockView> block = reader.next(at, at + block_unit);
    result = reader.result();
    if (!block) break;
    next_number = block->header.number + 1;
    at += block->bytes;
  }
  if (result.status == FileStatus::not_found) return true;
  if (!result.ok()) return fail("read log segment", path, result);
  return next_number >= log.next_number || is_others(source, log);
}

}  // namespace pgsilo
