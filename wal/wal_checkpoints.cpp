// Checkpoints' files as a start finds them (docs/checkpoints.md, Whose files).
#include <algorithm>
#include <set>

#include "base/server_log.h"
#include "wal/checkpoint/checkpoint_origin.h"
#include "wal/wal_state.h"

namespace pgsilo {

bool Wal::State::open_checkpoint_directories(std::string* why) {
  for (const std::string& name : options.checkpoint_directories) {
    checkpoint_directories.push_back(std::make_unique<CheckpointDirectory>(files, directory, name));
    if (!checkpoint_directories.back()->open(why)) return false;
  }
  return true;
}

// Those of checkpoints that were not completed, or were replaced: whatever of this copy's the one
// that counts does not name, wherever its files are found. What cannot be removed does no harm.
void Wal::State::remove_stale_checkpoints() {
  std::set<std::string> kept;
  for (const CheckpointFile& file : control.checkpoint.files)
    kept.insert(file.identity(control.database).name());
  for (const auto& checkpoints : checkpoint_directories) {
    std::vector<std::string> names;
    if (!files.list(checkpoints->path(), &names).ok()) continue;
    std::vector<std::string> left;
    for (const std::string& name : names) {
      if (!is_checkpoint_file_name(name, control.database) || kept.contains(name)) continue;
      if (is_removable(files, directory, checkpoints->name(), name, control) == Removable::yes) {
        static_cast<void>(files.remove(join_path(checkpoints->path(), name)));
      } else {
        left.push_back(name);
      }
    }
    leave_to_others(checkpoints->path(), left);
  }
}

// A checkpoint of theirs may be all that another copy of the database has.
void Wal::State::leave_to_others(const std::string& path, const std::vector<std::string>& names) {
  if (names.empty()) return;
  // No checkpoint has so large a number, nor ever will.
  constexpr uint64_t most = UINT64_MAX / 2;
  for (const std::string& name : names) {
    uint64_t number = checkpoint_number_in(name);
    if (number <= most) others_number = std::max(others_number, number);
  }
  std::string which = "\"" + names.front() + "\"";
  if (names.size() > 1) which += " and " + std::to_string(names.size() - 1) + " more";
  write_server_log(LogLevel::warning,
                   "checkpoint directory \"" + path +
                       "\" holds files that another copy of the database may need",
                   "Not known to be this copy's, and left alone: " + which + ".",
                   "Give each copy checkpoint_directories of its own. Remove such files when no "
                   "copy needs them.");
}

}  // namespace pgsilo
