// Replication slots as a start finds them (docs/backup.md).
#include <algorithm>

#include "base/server_log.h"
#include "wal/wal_state.h"

namespace pgsilo {

// A copy has none: what its slots would keep for is the original's.
bool Wal::State::find_slots(std::string* why) {
  std::string path = join_path(directory, slot_file_name);
  if (from_backup) {
    FileResult result = files.remove(path);
    if (result.ok() || result.status == FileStatus::not_found) return true;
    *why = "could not remove file \"" + path + "\": " + result.text();
    return false;
  }
  if (!read_slot_file(&slots, why)) return false;
  if (slots.size() > options.max_slots) {
    *why =
        "too many replication slots active before shutdown\nHINT:  Increase max_replication_slots "
        "and try again.";
    return false;
  }
  lose_slots_without_log();
  return true;
}

bool Wal::State::read_slot_file(std::vector<LogSlot>* found, std::string* why) const {
  std::string path = join_path(directory, slot_file_name);
  FileResult failure;
  switch (read_slots(files, directory, control.database, found, &failure)) {
    case SlotsRead::ok:
      return true;
    case SlotsRead::unreadable:
      *why = "could not read file \"" + path + "\": " + failure.text();
      return false;
    case SlotsRead::other_version:
      *why = "file \"" + path + "\" was written by another version of pgsilo";
      return false;
    case SlotsRead::damaged:
      *why = "file \"" + path +
             "\" is damaged: it is not known which log segments replication slots keep\nHINT:  "
             "Remove it, and create the slots anew; who copied the log by them begins with a new "
             "backup.";
      return false;
  }
  return false;
}

// Retired before that could be written down, or by a version that knows no slots.
void Wal::State::lose_slots_without_log() {
  for (const LogUnit& unit : units) {
    std::vector<uint64_t> numbers;
    if (!unit.directory->list_segments(&numbers).ok()) return;
    for (LogSlot& slot : slots) {
      uint64_t first = first_kept(slot, unit.directory->log());
      if (first == 0 || first == UINT64_MAX || std::ranges::binary_search(numbers, first)) continue;
      slot.lost = true;
      write_server_log(LogLevel::warning,
                       "replication slot \"" + slot.name + "\" is lost: log segment \"" +
                           unit.directory->segment_path(first) + "\" is missing");
    }
  }
}

}  // namespace pgsilo
