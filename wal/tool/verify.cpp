#include "wal/tool/verify.h"

#include "base/file_read_only.h"
#include "wal/backup/backup_label.h"
#include "wal/layout/control_file.h"
#include "wal/layout/log_directory.h"
#include "wal/recovery/recovery_report.h"
#include "wal/tool/log_places.h"
#include "wal/tool/recovery_text.h"

namespace pgsilo {
Verdict verify_data_directory(FileSystem& files, const Clock& clock, const VerifyOptions& options,
                              RecoveryListener* listener, std::FILE* out, std::string* why) {
  ReadOnlyFileSystem untouched(files);
  const std::string& directory = options.data_directory;
  std::vector<std::string> names;
  FileResult result = untouched.list(directory, &names);
  if (!result.ok()) {
    *why = "could not read directory \"" + directory + "\": " + result.text();
    return Verdict::unreadable;
  }
  std::unique_ptr<File> lock;
  if (!hold_data_directory(untouched, directory, &lock, why)) return Verdict::unreadable;

  // If it cannot be read, recovery says why.
  ControlFile control;
  BackupLabel label;
  if (read_label_file(untouched, directory, &label, why) == LabelRead::ok) {
    control = control_at_stop(label);
  } else {
    static_cast<void>(read_control_file(untouched, directory, &control));
  }
  WalOptions wal_options;
  wal_options.log_directories =
      find_log_directories(untouched, directory, control, options.log_directories);
  wal_options.checkpoint_directories = options.checkpoint_directories;
  wal_options.recovery_threads = options.threads;
  wal_options.read_only = true;
  std::unique_ptr<Wal> wal = Wal::open(untouched, clock, directory, wal_options, why);
  if (wal == nullptr) return Verdict::damaged;
  RecoveryReport report;
  bool sound = wal->inspect(options.live, listener, &report, why);
  if (report.new_database) {
    *why = "directory \"" + directory + "\" holds no database";
    return Verdict::unreadable;
  }
  bool told = sound || !report.incarnations.empty() || report.checkpoint.number != 0;
  if (told && out != nullptr) std::fputs(recovery_text(untouched, report, sound).c_str(), out);
  return sound ? Verdict::sound : Verdict::damaged;
}

}  // namespace pgsilo
