#include "wal/backup/archive_directory.h"

#include <algorithm>

#include "base/failed_call.h"
#include "base/file.h"
#include "wal/layout/checked_bytes.h"
#include "wal/recovery/log_analyzer.h"

namespace pgsilo {
namespace {

constexpr uint32_t progress_magic = 0x45415350;  // "PSAE"
constexpr uint32_t progress_version = 1;
constexpr uint32_t tip_tag = 1;
constexpr uint32_t had_tag = 2;

bool is_copied_log_name(const std::string& name) {
  return name.starts_with("wal") && name.find_first_not_of("0123456789", 3) == std::string::npos;
}

ArchivedEnd read_end(CheckedReader& from) {
  ArchivedEnd end;
  end.log = from.uuid();
  end.segment = from.u64();
  end.incarnation = from.u64();
  end.incarnation_tag = from.u64();
  end.next_number = from.u64();
  return end;
}

ArchivedTip read_tip(CheckedReader& from) {
  ArchivedTip tip;
  tip.tag = from.u64();
  tip.number = from.u64();
  tip.logged = Epoch(from.u64());
  return tip;
}

ArchivedHad read_had(CheckedReader& from) {
  ArchivedHad had;
  had.tag = from.u64();
  had.epoch = Epoch(from.u64());
  return had;
}

bool decode(const std::string& content, ArchiveProgress* progress, std::string* fault) {
  CheckedReader from(content);
  CheckedReader::Head head = from.head(progress_magic, progress_version);
  uint32_t count = from.u32();
  for (uint32_t i = 0; i < count && from.ok(); ++i) {
    CheckedReader end = from.sized();
    progress->ends.push_back(read_end(end));
    from.join(end);
  }
  while (from.has_item()) {
    const uint32_t tag = from.u32();
    CheckedReader item = from.sized();
    if (tag == tip_tag) progress->tip = read_tip(item);
    if (tag == had_tag) progress->had = read_had(item);
    from.join(item);
  }
  *fault = head == CheckedReader::Head::other_version ? "was written by another version of pgsilo"
                                                      : "is damaged";
  return head == CheckedReader::Head::ok && from.ok();
}

}  // namespace

bool list_archive(FileSystem& files, const std::string& archive, std::vector<LogDirectory>* logs,
                  bool* call_failed, std::string* why) {
  std::vector<std::string> names;
  FileResult result = files.list(archive, &names);
  if (!result.ok()) {
    *call_failed = true;
    *why = could_not("read archive", archive, result);
    return false;
  }
  std::ranges::sort(names);
  for (const std::string& name : names) {
    if (!is_copied_log_name(name)) continue;
    LogDirectory log(files, join_path(archive, name));
    if (!log.read_identity(why, call_failed)) return false;
    if (log.has_identity()) logs->push_back(std::move(log));
  }
  return true;
}

ArchiveProgressRead read_archive_progress(FileSystem& files, const std::string& archive,
                                          std::optional<ArchiveProgress>* progress,
                                          std::string* why) {
  progress->reset();
  std::string path = join_path(archive, archive_progress_name);
  std::string content;
  FileResult result = read_whole_file(files, path, &content);
  if (result.status == FileStatus::not_found) return ArchiveProgressRead::ok;
  if (!result.ok()) {
    *why = could_not("read file", path, result);
    return ArchiveProgressRead::unreadable;
  }
  std::string fault;
  ArchiveProgress found;
  if (decode(content, &found, &fault)) {
    *progress = std::move(found);
    return ArchiveProgressRead::ok;
  }
  *why = "file \"" + path + "\" " + fault +
         "\nHINT:  It says up to where the log was archived. Without it that is not known: what "
         "the logs hold can be restored when the file is taken away.";
  return ArchiveProgressRead::damaged;
}

FileResult write_archive_progress(FileSystem& files, const std::string& archive,
                                  const ArchiveProgress& progress) {
  CheckedWriter to(progress_magic, progress_version);
  to.u32(static_cast<uint32_t>(progress.ends.size()));
  for (const ArchivedEnd& end : progress.ends) {
    to.sized([&] {
      to.uuid(end.log);
      to.u64(end.segment);
      to.u64(end.incarnation);
      to.u64(end.incarnation_tag);
      to.u64(end.next_number);
    });
  }
  if (const std::optional<ArchivedTip>& tip = progress.tip) {
    to.item(tip_tag, [&] {
      to.u64(tip->tag);
      to.u64(tip->number);
      to.u64(tip->logged.value());
    });
  }
  if (const std::optional<ArchivedHad>& had = progress.had) {
    to.item(had_tag, [&] {
      to.u64(had->tag);
      to.u64(had->epoch.value());
    });
  }
  return replace_file(files, join_path(archive, archive_progress_name), to.finish());
}

std::string lost_since(const ArchivedEnd& end, const std::string& directory,
                       const std::vector<SegmentScan>& scans) {
  auto found = std::ranges::find(scans, end.segment, &SegmentScan::number);
  if (found == scans.end())
    return "log segment \"" + join_path(directory, segment_name(end.segment)) + "\" is missing";
  const std::vector<BlockRun>& runs = found->runs;
  bool begins = !runs.empty() && runs.front().begin == 0;
  if (!begins) return damaged_log(found->path, 0);
  const BlockRun& run = runs.front();
  bool same = run.incarnation == end.incarnation && run.incarnation_tag == end.incarnation_tag;
  // A begin block alone says nothing that is missed: its start was never named, and left its
  // number, or logged nothing, and a server that is restored has its own there.
  bool later = run.incarnation > end.incarnation || (!same && end.next_number == 1);
  bool replaced = later && run.first_number == 0;
  if (replaced || (same && run.next_number >= end.next_number)) return "";
  return damaged_log(found->path, run.end);
}

}  // namespace pgsilo
