// The file backup_label: what makes a copy of a running server's files a database. It says with
// which control file a start has to take them, for the one that was copied may be of any moment,
// and up to which epoch they count. Its first lines are PostgreSQL's. Thread safety: values, plain
// functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wal/layout/control_file.h"

namespace pgsilo {

inline constexpr char backup_label_name[] = "backup_label";
// What becomes of it when a start has taken it.
inline constexpr char used_label_name[] = "backup_label.old";

struct BackupLabel {
  std::string label;       // who made it called it so; of one line
  int64_t started_us = 0;  // since 1970
  Epoch stop;              // the state: all that was committed up to it
  ControlFile control;     // as of the start; its last incarnation is the one that was copied
};

std::string write_backup_label(const BackupLabel& label);
// False: `why`, of the text alone.
bool read_backup_label(std::string_view text, BackupLabel* label, std::string* why);

// The earliest state that can be had: below it the checkpoint's rows are of different epochs.
Epoch earliest_stop(const BackupLabel& label);
// The control file of a database that is the state at `label.stop`, and nothing after it.
ControlFile control_at_stop(const BackupLabel& label);

enum class LabelRead : uint8_t { none, ok, unusable };
// Of a data directory. unusable: `why`.
LabelRead read_label_file(FileSystem& files, const std::string& directory, BackupLabel* label,
                          std::string* why);
// Nobody finds it any more: a start that rests on it has its own control file, durably.
FileResult put_label_away(FileSystem& files, const std::string& directory);

}  // namespace pgsilo
