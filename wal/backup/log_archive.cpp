#include "wal/backup/log_archive.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/failed_call.h"
#include "wal/backup/backup_label.h"
#include "wal/layout/control_file.h"
#include "wal/log/segment_reader.h"

namespace pgsilo {
namespace {

using log_format::block_unit;

constexpr size_t copy_bytes = size_t{4} << 20;

}  // namespace

LogArchive::LogArchive(FileSystem& files, std::string directory)
    : files_(files), directory_(std::move(directory)), buffer_(allocate_aligned(copy_bytes)) {}

bool LogArchive::fail(const std::string& what, const std::string& path, const FileResult& result) {
  why_ = could_not(what, path, result);
  call_failed_ = true;
  return false;
}

bool LogArchive::fail_to_read(const ReadFailure& failure) {
  return fail("read", failure.path, failure.result);
}

bool LogArchive::open(std::string* why) {
  call_failed_ = false;
  known_ = is_its_own() && lock() && find_logs();
  if (!known_) *why = why_;
  return known_;
}

bool LogArchive::find_logs() {
  starts_.reset();
  logs_.clear();
  are_ends_mended_ = false;
  passages_.clear();
  judged_for_.reset();
  FileResult result = files_.sync_directory(directory_);
  if (!result.ok()) return fail("sync directory", directory_, result);
  std::vector<LogDirectory> directories;
  if (!list_archive(files_, directory_, &directories, &call_failed_, &why_)) return false;
  for (LogDirectory& directory : directories) {
    // Nobody else writes there: a server would if it were a log of its own.
    if (!directory.open(&why_, &call_failed_)) return false;
    logs_.push_back(std::make_unique<Log>(files_, std::move(directory)));
    if (!find_end(*logs_.back())) return false;
  }
  return true;
}

// Behind a failed write or sync only the disk knows what it has, not the page cache, which may take
// for written what is not: what is there is found by direct reads.
bool LogArchive::copy(const BackupSource& source, const LogSlot& slot, std::string* why,
                      Epoch durable) {
  call_failed_ = false;
  durable_ = durable;
  has_all_ = false;
  bool done = see_if_replaced() && find_source(source) && (known_ || find_logs_anew()) &&
              look_at_slot(slot) && is_of_one_history() && copy_all(slot) &&
              has_what_was_told(source) && find_tip() && note_ends();
  known_ = done;
  if (!done) *why = why_;
  return done;
}

bool LogArchive::find_source(const BackupSource& source) {
  starts_.reset();
  source_blocks_.clear();
  source_.clear();
  for (const std::string& place : source.log_directories) {
    auto log = std::make_unique<LogDirectory>(files_, join_path(source.data_directory, place));
    if (!log->read_identity(&why_, &call_failed_)) return false;
    if (!log->has_identity())
      return fail("read file", join_path(log->path(), log_identity_name),
                  {FileStatus::not_found, 0});
    source_.push_back(std::move(log));
    source_blocks_.push_back(std::make_unique<FirstBlocks>(files_, *source_.back()));
  }
  return find_restored(source.data_directory) && find_control(source.data_directory);
}

// What lies before where the archive ends, or where the slot keeps a log that is new, may be there
// yet, but is not copied.
void LogArchive::find_kept(const LogSlot& slot) {
  for (size_t i = 0; i < source_.size(); ++i) {
    auto log = std::ranges::find_if(
        logs_, [&](const auto& each) { return each->directory.log() == source_[i]->log(); });
    const bool is_archived = log != logs_.end() && (*log)->segment != 0;
    source_blocks_[i]->set_kept_from(is_archived ? (*log)->segment
                                                 : first_kept(slot, source_[i]->log()));
  }
}

// A file that is damaged tells nothing, and is the server's to refuse.
bool LogArchive::find_control(const std::string& data_directory) {
  ControlFile control;
  FileResult failure;
  ControlRead read = read_control_file(files_, data_directory, &control, &failure);
  if (read == ControlRead::unreadable)
    return fail("read file", join_path(data_directory, control_file_name), failure);
  control_ = read == ControlRead::ok ? std::move(control) : ControlFile{};
  return true;
}

// Without that it is not known whether something was lost or never there.
bool LogArchive::find_restored(const std::string& data_directory) {
  restored_.reset();
  std::string path = join_path(data_directory, used_label_name);
  std::string text;
  FileResult result = read_whole_file(files_, path, &text);
  if (result.status == FileStatus::not_found) return true;
  if (!result.ok()) return fail("read file", path, result);
  BackupLabel label;
  std::string damage;
  if (!read_backup_label(text, &label, &damage)) {
    why_ = "file \"" + path + "\", which says what the server was restored of, " + damage;
    return false;
  }
  const Incarnation& last = label.control.incarnations.back();
  restored_ = label.stop < last.first_epoch ? last.parent : HistoryPoint{last.id, label.stop};
  return true;
}

// Where a start's end is seen in one log, all that it wrote to the others is found by looking once
// more: then it can be told whether it is whole. One log may be behind by a start, of an earlier
// turn that failed: that start comes first.
bool LogArchive::copy_all(const LogSlot& slot) {
  note_durable();
  find_kept(slot);  // what was set aside is not archived any more
  for (;;) {
    std::vector<const LogDirectory*> ended;
    for (const auto& source : source_) {
      if (!copy_log(*source, slot)) return false;
      if (log_of(*source)->ended) ended.push_back(source.get());
    }
    has_all_ = ended.empty();
    if (has_all_) return are_passages_whole();
    for (const auto& source : source_) {
      if (!log_of(*source)->ended && !copy_log(*source, slot)) return false;
    }
    uint64_t oldest = UINT64_MAX;
    for (const LogDirectory* source : ended)
      oldest = std::min(oldest, log_of(*source)->first.incarnation);
    Passages judged;
    for (const LogDirectory* source : ended) {
      bool is_next = log_of(*source)->first.incarnation == oldest;
      if (is_next && !begin_next_start(*source, &judged)) return false;
    }
  }
}

// What is asked of a start all its logs together tell, so it is asked for the first of them only.
bool LogArchive::begin_next_start(const LogDirectory& source, Passages* judged) {
  Log& log = *log_of(source);
  if (log.successor && !is_had(source, log, *log.successor)) return false;
  bool is_first =
      log.successor &&
      judged->emplace(log.first.incarnation_tag, short_identity(log.successor->incarnation)).second;
  if (is_first && !rests_on_what_was_had(*log.successor)) return false;
  if (is_first && !is_whole(log.first, *log.successor)) return false;
  begin_segment(log, 0);
  return true;
}

void LogArchive::begin_segment(Log& log, uint64_t next_number) {
  ++log.segment;
  log.offset = 0;
  log.next_number = next_number;
  log.file.reset();
  log.ended = false;
  log.successor.reset();
}

LogArchive::Log* LogArchive::log_of(const LogDirectory& source) {
  for (const auto& log : logs_) {
    if (log->directory.database() != source.database()) {
      why_ = "archive \"" + directory_ + "\" holds the log of another database (" +
             log->directory.database().text() + ", not " + source.database().text() + ")";
      return nullptr;
    }
    if (log->directory.log() == source.log()) return log.get();
  }
  return add_log(source);
}

LogArchive::Log* LogArchive::add_log(const LogDirectory& source) {
  auto is_taken = [this](const std::string& path) {
    return std::ranges::any_of(logs_,
                               [&](const auto& log) { return log->directory.path() == path; });
  };
  size_t index = 0;
  while (is_taken(join_path(directory_, copied_log_name(index)))) ++index;
  std::string path = join_path(directory_, copied_log_name(index));
  FileResult result = make_directory(files_, path);
  std::string identity;
  if (result.ok())
    result = read_whole_file(files_, join_path(source.path(), log_identity_name), &identity);
  if (result.ok()) result = replace_file(files_, join_path(path, log_identity_name), identity);
  if (!result.ok()) {
    fail("create directory", path, result);
    return nullptr;
  }
  starts_.reset();
  logs_.push_back(std::make_unique<Log>(files_, LogDirectory(files_, path)));
  Log& log = *logs_.back();
  bool is_there = log.directory.open(&why_, &call_failed_);
  return is_there && is_that_of(source, log) ? &log : nullptr;
}

// Directories of logs may change their names meanwhile.
bool LogArchive::is_that_of(const LogDirectory& source, const Log& log) {
  if (log.directory.log() == source.log()) return true;
  const std::string path = join_path(log.directory.path(), log_identity_name);
  FileResult result = files_.remove(path);
  if (!result.ok()) return fail("remove file", path, result);
  why_ = "log directory \"" + source.path() + "\" became another log's while it was looked at";
  call_failed_ = true;
  return false;
}

bool LogArchive::copy_log(const LogDirectory& source, const LogSlot& slot) {
  Log* log = log_of(source);
  if (log == nullptr) return false;
  std::vector<uint64_t> numbers;
  FileResult result = source.list_segments(&numbers);
  if (!result.ok()) return fail("read log directory", source.path(), result);
  if (log->segment == 0 && !begin_behind_slot(source, slot, numbers, *log)) return false;
  log->ended = false;
  for (;;) {
    // Looked at first: nothing is written to a segment when the next one is begun.
    std::optional<BlockHeader> next;
    if (!find_next(source, *log, &next)) return false;
    // The server goes on while it is copied.
    if (numbers.empty() || log->segment > numbers.back()) result = source.list_segments(&numbers);
    if (!result.ok()) return fail("read log directory", source.path(), result);
    bool there = std::ranges::binary_search(numbers, log->segment);
    // Once it is whole here the slot may let it go.
    if (!there && !(next && log->offset != 0)) return lacks(source, log->segment);
    if (there && !append(source, *log)) return false;
    if (!next) return true;
    if (!follows(source, *log, *next)) return false;
    log->ended = !same_incarnation(log->first, *next);
    if (log->ended) return true;
    begin_segment(*log, log->next_number);
  }
}

// The first block of the next segment; none: it is not begun. One behind it is begun only when it
// was: then its first block is damaged, unless it has come meanwhile.
bool LogArchive::find_next(const LogDirectory& source, Log& log, std::optional<BlockHeader>* next) {
  log.successor.reset();
  std::optional<BlockHeader> behind;
  for (int look = 0; look < 2 && !*next; ++look) {
    if (!read_first(source, log.segment + 1, next, &log.successor)) return false;
    if (!*next && look == 0 && !read_first(source, log.segment + 2, &behind, nullptr)) return false;
    if (!behind) return true;
  }
  if (*next) return true;
  std::vector<uint64_t> numbers;
  FileResult result = source.list_segments(&numbers);
  if (!result.ok()) return fail("read log directory", source.path(), result);
  if (!std::ranges::binary_search(numbers, log.segment + 1)) return lacks(source, log.segment + 1);
  why_ = "log segment \"" + source.segment_path(log.segment + 1) +
         "\" is damaged at offset 0: its first block is missing, and the next segment is begun";
  return false;
}

bool LogArchive::read_first(const LogDirectory& source, uint64_t segment,
                            std::optional<BlockHeader>* first, std::optional<LogBegin>* begin) {
  FileResult result = read_first_block(files_, source, segment, first, begin);
  return result.ok() || result.status == FileStatus::not_found ||
         fail("read log segment", source.segment_path(segment), result);
}

bool LogArchive::begin_behind_slot(const LogDirectory& source, const LogSlot& slot,
                                   const std::vector<uint64_t>& numbers, Log& log) {
  uint64_t first = first_kept(slot, source.log());
  if (first == UINT64_MAX) {
    why_ = "replication slot \"" + slot.name + "\" keeps no log";
    return false;
  }
  log.segment = first != 0 || numbers.empty() ? std::max<uint64_t>(first, 1) : numbers.front();
  std::optional<BlockHeader> block;
  std::optional<LogBegin> begin;
  if (!read_first(source, log.segment, &block, &begin)) return false;
  if (begin) return rests_on_what_was_had(*begin);
  return !block || !is_behind_had(slot) ||
         lacks_directory("start " + std::to_string(block->incarnation) +
                         " of the server has logged before log segment \"" +
                         source.segment_path(log.segment) + "\" what was never archived");
}

bool LogArchive::lacks(const LogDirectory& source, uint64_t segment) {
  why_ = "log segment \"" + source.segment_path(segment) +
         "\" is missing, and not in the archive whole\nHINT:  The slot has not kept it, or the log "
         "is another one than was archived. Drop the slot, run CHECKPOINT, begin a new archive, "
         "and take a new "
         "backup.";
  return false;
}

// A start begins with a block of number 0; where it does not, a block before was lost. A segment
// without a block is none that another one follows.
bool LogArchive::follows(const LogDirectory& source, const Log& log, const BlockHeader& next) {
  uint64_t expected = log.offset == 0 || same_incarnation(log.first, next) ? log.next_number : 0;
  if (log.offset != 0 && next.number == expected) return true;
  why_ = "log segment \"" + source.segment_path(log.segment) + "\" is damaged at offset " +
         std::to_string(log.offset) + ": block " + std::to_string(expected) +
         " is missing, the next segment begins with block " + std::to_string(next.number);
  return false;
}

bool LogArchive::append(const LogDirectory& source, Log& log) {
  std::string path = source.segment_path(log.segment);
  std::unique_ptr<File> from;
  uint64_t bytes = 0;
  FileResult result = files_.open(path, {.direct = true}, &from);
  if (result.status == FileStatus::unsupported) result = files_.open(path, {}, &from);
  if (result.ok()) result = from->size(&bytes);
  if (!result.ok()) return fail("read log segment", path, result);
  return (log.offset == 0 || is_same(source, log)) && copy_blocks(path, log, *from, bytes);
}

bool LogArchive::copy_blocks(const std::string& path, Log& log, File& from, uint64_t bytes) {
  bool any = false;
  for (;;) {
    size_t got = 0;
    FileResult result = from.read_at(buffer_.get(), copy_bytes, log.offset, &got);
    if (!result.ok()) return fail("read log segment", path, result);
    Found found = whole_blocks({buffer_.get(), got}, log);
    if (found.bytes == 0) break;
    if (!write(log, found.bytes, bytes)) return false;
    any = true;
    if (log.offset == 0) log.first_blocks.note(log.segment, found.first, std::move(found.begin));
    if (!same_incarnation(found.first, log.first)) log.logged = log.durable = Epoch();
    log.logged = std::max(log.logged, found.logged);
    log.durable = std::max(log.durable, found.durable);
    log.offset += found.bytes;
    log.next_number = found.next_number;
    log.first = found.first;
    copied_bytes_ += found.bytes;
  }
  if (!any) return true;
  FileResult result = log.file->sync_data();
  if (!result.ok()) return fail("sync file", log.directory.segment_path(log.segment), result);
  return has_its_name(log);
}

// From the log's end on: those that belong there and follow each other.
LogArchive::Found LogArchive::whole_blocks(std::string_view bytes, const Log& log) const {
  Found found{.bytes = 0,
              .next_number = log.next_number,
              .first = log.first,
              .begin = {},
              .logged = Epoch(),
              .durable = Epoch()};
  while (found.bytes + block_unit <= bytes.size()) {
    BlockPlace place{
        .log = log.directory.log(), .segment = log.segment, .offset = log.offset + found.bytes};
    std::optional<BlockView> block = open_block(bytes.substr(found.bytes), place);
    if (!block) break;
    if (place.offset == 0) {
      found.first = block->header;
      if (block->header.kind == BlockKind::begin) found.begin = decode_log_begin(block->stored);
    } else if (!same_incarnation(block->header, found.first) ||
               block->header.number != found.next_number) {
      break;
    }
    found.next_number = block->header.number + 1;
    found.logged = block->header.largest_epoch;
    if (found.logged <= durable_) found.durable = found.logged;
    found.bytes += block->bytes;
  }
  return found;
}

bool LogArchive::write(Log& log, size_t bytes, uint64_t segment_bytes) {
  if (log.offset == 0) return create(log, bytes, segment_bytes);
  FileResult result = log.file->write_at(buffer_.get(), bytes, log.offset);
  return result.ok() || fail("write file", log.directory.segment_path(log.segment), result);
}

// Under its name it has its whole length.
bool LogArchive::create(Log& log, size_t bytes, uint64_t segment_bytes) {
  std::string path = log.directory.segment_path(log.segment);
  std::string unfinished = join_path(log.directory.path(), unfinished_segment_name(log.segment));
  log.file.reset();
  FileResult result = files_.remove(unfinished);
  if (result.status == FileStatus::not_found) result = {};
  if (result.ok())
    result = files_.open(unfinished, {.write = true, .create = true, .exclusive = true}, &log.file);
  if (result.ok()) result = log.file->write_at(buffer_.get(), bytes, 0);
  if (result.ok() && bytes < segment_bytes) {
    std::string zeros(block_unit, '\0');
    result = log.file->write_at(zeros.data(), zeros.size(), segment_bytes - zeros.size());
  }
  if (result.ok()) result = log.file->sync_data();
  if (result.ok()) result = files_.rename(unfinished, path);
  if (result.ok()) result = files_.sync_directory(log.directory.path());
  return result.ok() || fail("create file", path, result);
}

}  // namespace pgsilo
