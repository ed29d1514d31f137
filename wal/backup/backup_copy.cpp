#include "wal/backup/backup_copy.h"

#include <map>

#include "base/aligned_bytes.h"
#include "base/failed_call.h"
#include "base/file.h"
#include "wal/backup/backup_places.h"
#include "wal/backup/source_logs.h"
#include "wal/layout/checkpoint_format.h"
#include "wal/layout/log_directory.h"
#include "wal/layout/log_format.h"
#include "wal/log/segment_reader.h"
#include "wal/recovery/opened_checkpoint.h"

namespace pgsilo {
namespace {

constexpr size_t copy_bytes = size_t{4} << 20;
constexpr char checkpoint_directory[] = "checkpoint";

class Copier {
 public:
  Copier(FileSystem& files, const BackupSource& source, BackupLabel& label, std::string target,
         BackupCopyReport& report, std::string& why)
      : files_(files),
        source_(source),
        label_(label),
        target_(std::move(target)),
        report_(report),
        why_(why),
        buffer_(allocate_aligned(copy_bytes)) {}

  // Until the end the label is one that no start takes.
  bool run() {
    return make_target() && write_label("This copy is not whole yet.\n") && copy_checkpoint() &&
           copy_logs() && write_label(write_backup_label(label_));
  }

 private:
  bool fail(const std::string& what, const std::string& path, const FileResult& result) {
    why_ = could_not(what, path, result);
    return false;
  }

  bool make_target() {
    std::string part;
    FileResult result = make_directories(files_, target_, &part);
    if (!result.ok()) return fail("create directory", part, result);
    std::vector<std::string> names;
    result = files_.list(target_, &names);
    if (!result.ok()) return fail("read directory", target_, result);
    if (names.empty()) return true;
    why_ = "directory \"" + target_ + "\" exists but is not empty";
    return false;
  }

  bool make_inside(const std::string& name) {
    std::string path = join_path(target_, name);
    FileResult result = make_directory(files_, path);
    return result.ok() || fail("create directory", path, result);
  }

  bool sync_inside(const std::string& name) {
    std::string path = join_path(target_, name);
    FileResult result = files_.sync_directory(path);
    return result.ok() || fail("sync directory", path, result);
  }

  bool copy_file(const std::string& from, const std::string& to) {
    std::unique_ptr<File> source;
    std::unique_ptr<File> target;
    FileResult result = files_.open(from, {}, &source);
    if (!result.ok()) return fail("open file", from, result);
    result = files_.open(to, {.write = true, .create = true, .exclusive = true}, &target);
    if (!result.ok()) return fail("create file", to, result);
    for (uint64_t at = 0;;) {
      size_t got = 0;
      result = source->read_at(buffer_.get(), copy_bytes, at, &got);
      if (!result.ok()) return fail("read file", from, result);
      result = target->write_at(buffer_.get(), got, at);
      if (!result.ok()) return fail("write file", to, result);
      report_.bytes += got;
      at += got;
      if (got < copy_bytes) break;
    }
    ++report_.files;
    result = target->sync_data();
    return result.ok() || fail("sync file", to, result);
  }

  // Where the label has it, but of a backup inside of that only, or wherever it is found:
  // directories may move. A fault is verify's business.
  std::string find_checkpoint_file(CheckpointFile file, const std::vector<std::string>& places) {
    if (source_.is_backup) file.directory = places.empty() ? "" : places.front();
    OpenedCheckpointFile found;
    static_cast<void>(open_checkpoint_file(files_, source_.data_directory, places,
                                           label_.control.database, file, &found));
    return found.path;
  }

  bool list_checkpoint_places(std::vector<std::string>* places) {
    const std::vector<std::string>& named = source_.checkpoint_directories;
    if (source_.is_backup) return list_inside(files_, source_.data_directory, named, places, &why_);
    *places = named;
    return true;
  }

  bool copy_checkpoint() {
    std::vector<std::string> places;
    if (!make_inside(checkpoint_directory) || !list_checkpoint_places(&places)) return false;
    for (CheckpointFile& file : label_.control.checkpoint.files) {
      std::string name = file.identity(label_.control.database).name();
      std::string from = find_checkpoint_file(file, places);
      file.directory = checkpoint_directory;
      if (!copy_file(from, join_path(join_path(target_, checkpoint_directory), name))) return false;
    }
    return sync_inside(checkpoint_directory);
  }

  bool copy_logs() {
    ControlFile& control = label_.control;
    SourceLogs logs;
    if (!logs.find(files_, source_, control, &why_)) return false;
    std::map<Uuid, std::string> names;
    for (const Incarnation& incarnation : control.incarnations) {
      if (!needs_log(control, incarnation)) continue;
      for (const LogIdentity& log : incarnation.logs) {
        auto [name, is_new] = names.emplace(log.log, copied_log_name(names.size()));
        if (!is_new) continue;
        report_.log_directories.push_back(name->second);
        if (!copy_log(*logs.log(log.log), name->second)) return false;
      }
    }
    name_copied_logs(names);
    return true;
  }

  // In the starts that need none, too: what was copied is where the copy has it, not the server.
  void name_copied_logs(const std::map<Uuid, std::string>& names) {
    for (Incarnation& incarnation : label_.control.incarnations) {
      for (LogIdentity& log : incarnation.logs) {
        auto copied = names.find(log.log);
        if (copied != names.end()) log.path = copied->second;
      }
    }
  }

  bool copy_log(const SourceLog& log, const std::string& name) {
    std::string to = join_path(target_, name);
    return make_inside(name) &&
           copy_file(join_path(log.directory->path(), log_identity_name),
                     join_path(to, log_identity_name)) &&
           copy_segments(log, to) && sync_inside(name);
  }

  // Up to the first that nothing was written to yet, or by a later start than the label knows. One
  // is always copied: a log without segments is a lost one. Those that hold no block say something
  // only before others.
  bool copy_segments(const SourceLog& log, const std::string& to) {
    std::vector<uint64_t> waiting;
    for (const auto& [number, path] : log.segments) {
      Holds holds = Holds::nothing;
      if (!look_into(log.directory->log(), number, path, &holds)) return false;
      const bool is_first = number == log.segments.begin()->first;
      if (holds == Holds::what_is_later && !is_first) break;
      waiting.push_back(number);
      if (holds == Holds::nothing && !is_first) continue;
      for (uint64_t each : waiting) {
        if (!copy_file(log.segments.at(each), join_path(to, segment_name(each)))) return false;
      }
      waiting.clear();
    }
    return true;
  }

  enum class Holds : uint8_t { what_counts, what_is_later, nothing };
  // Its first whole block tells.
  bool look_into(const Uuid& log, uint64_t number, const std::string& path, Holds* holds) {
    SegmentReader reader(files_, path, number, log);
    FileResult result = reader.open(log_format::block_unit);
    std::optional<BlockView> block;
    if (result.ok()) block = reader.next(0, log_format::block_unit);
    const bool is_unused = result.ok() && !block && reader.begins_unused();
    if (result.ok()) result = reader.result();
    SegmentReader whole(files_, path, number, log);
    if (result.ok() && !block && !is_unused) {
      result = whole.open();
      if (result.ok()) block = whole.next(0, whole.bytes());
      if (result.ok()) result = whole.result();
    }
    const bool is_later =
        block && block->header.incarnation > label_.control.incarnations.back().number;
    *holds = is_unused || is_later ? Holds::what_is_later
             : block               ? Holds::what_counts
                                   : Holds::nothing;
    return result.ok() || fail("read file", path, result);
  }

  bool write_label(const std::string& text) {
    FileResult result = replace_file(files_, join_path(target_, backup_label_name), text);
    return result.ok() || fail("write backup label in", target_, result);
  }

  FileSystem& files_;
  const BackupSource& source_;
  BackupLabel& label_;
  const std::string target_;
  BackupCopyReport& report_;
  std::string& why_;
  AlignedBytes buffer_;
};

}  // namespace

bool add_archive(FileSystem& files, const std::string& archive, BackupSource* source,
                 std::string* why) {
  std::vector<LogDirectory> directories;
  bool call_failed = false;
  if (!list_archive(files, archive, &directories, &call_failed, why) ||
      read_archive_progress(files, archive, &source->archive_progress, why) !=
          ArchiveProgressRead::ok) {
    return false;
  }
  for (const LogDirectory& log : directories) source->archive_directories.push_back(log.path());
  if (!directories.empty()) return true;
  *why = "directory \"" + archive + "\" holds no archive of a log";
  return false;
}

std::string copied_log_name(size_t index) {
  return index == 0 ? "wal" : "wal" + std::to_string(index + 1);
}

// The last start's names come first: a log may have been moved since an earlier one.
BackupSource source_of_backup(const std::string& directory, const BackupLabel& label) {
  BackupSource source{.data_directory = directory,
                      .log_directories = {},
                      .checkpoint_directories = {checkpoint_directory},
                      .is_backup = true,
                      .stop = label.stop};
  const std::vector<Incarnation>& incarnations = label.control.incarnations;
  for (size_t i = incarnations.size(); i-- > 0;) {
    for (const LogIdentity& log : incarnations[i].logs) source.log_directories.push_back(log.path);
  }
  for (const CheckpointFile& file : label.control.checkpoint.files)
    source.checkpoint_directories.push_back(file.directory);
  return source;
}

bool copy_backup(FileSystem& files, const BackupSource& source, BackupLabel label,
                 const std::string& target, BackupCopyReport* report, std::string* why) {
  return Copier(files, source, label, target, *report, *why).run();
}

}  // namespace pgsilo
