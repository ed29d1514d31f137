// Copies what a backup consists of, which its label names: from the directories of a running server
// that holds it, or from a backup into a data directory. The copy has everything in one directory,
// and its label last: until then it has one with which every start is refused.
// Thread safety: plain functions; nobody else writes into the target.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "wal/backup/archive_directory.h"
#include "wal/backup/backup_label.h"

namespace pgsilo {

class FileSystem;

// Where the files of a label lie; relative ones in the data directory, as in the settings.
struct BackupSource {
  std::string data_directory;
  std::vector<std::string> log_directories;
  std::vector<std::string> checkpoint_directories;  // that are looked through, too
  // Its directories had these names in the server; only what lies in `data_directory` is looked at.
  bool is_backup = false;
  Epoch stop = Epoch();  // of the backup
  // Of an archive of the log, each of one log; not in the data directory.
  std::vector<std::string> archive_directories = {};
  std::optional<ArchiveProgress> archive_progress = {};  // how far they had got, if known
};

// The archive's logs and their ends are looked at, too. False: `why`.
bool add_archive(FileSystem& files, const std::string& archive, BackupSource* source,
                 std::string* why);

// Of the logs of a backup or an archive, the directory of each: wal, wal2 ...
std::string copied_log_name(size_t index);
// Of a backup: everything lies in its directory, wherever the label has it.
BackupSource source_of_backup(const std::string& directory, const BackupLabel& label);

struct BackupCopyReport {
  uint64_t files = 0;
  uint64_t bytes = 0;
  std::vector<std::string> log_directories;  // as the setting has to name them for a start
};

// `target` is missing, or an empty directory. Durable when it returns. False: `why`; what was
// copied stays.
bool copy_backup(FileSystem& files, const BackupSource& source, BackupLabel label,
                 const std::string& target, BackupCopyReport* report, std::string* why);

}  // namespace pgsilo
