// pgsilo-backup: takes backups of a running server, follows its log, restores them
// (docs/backup.md).
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "wal/backup/backup_copy.h"
#include "wal/backup/log_archive.h"
#include "wal/backup/log_history.h"
#include "wal/backup/state_times.h"
#include "wal/backup/timestamp.h"
#include "wal/layout/lsn_text.h"
#include "wal/tool/backup/command_line.h"
#include "wal/tool/backup/follow.h"
#include "wal/tool/backup/server_connection.h"
#include "wal/tool/complaint.h"
#include "wal/tool/verify.h"

namespace {

using namespace pgsilo;
using namespace pgsilo::backup_tool;

void say_how_to_start(const std::string& directory, const BackupCopyReport& report) {
  std::printf("start it with: pgsilo -D %s", directory.c_str());
  if (report.log_directories.size() > 1) {
    std::printf(" -c log_directories=");
    for (size_t i = 0; i < report.log_directories.size(); ++i)
      std::printf("%s%s", i == 0 ? "" : ",", report.log_directories[i].c_str());
  }
  std::printf("\n");
}

bool verify(FileSystem& files, const std::string& directory, std::string* why) {
  MonotonicClock clock;
  VerifyOptions options;
  options.data_directory = directory;
  return verify_data_directory(files, clock, options, nullptr, nullptr, why) == Verdict::sound;
}

bool copy(FileSystem& files, const CommandLine& line, const BackupSource& source,
          const BackupLabel& label, const std::string& target, BackupCopyReport* report,
          std::string* why) {
  if (!copy_backup(files, source, label, target, report, why)) return false;
  std::printf("%llu files, %llu kB, state at %s (epoch %llu)\n",
              static_cast<unsigned long long>(report->files),
              static_cast<unsigned long long>(report->bytes >> 10), lsn_text(label.stop).c_str(),
              static_cast<unsigned long long>(label.stop.value()));
  return !line.verify || verify(files, target, why);
}

// Before the backup begins: what it keeps reaches back to there.
bool create_slot(Server& server, const std::string& name, std::string* why) {
  std::vector<std::string> created(1);
  return server.ask("SELECT lsn FROM pg_create_physical_replication_slot($1, true)", {name},
                    &created, why);
}

// The log that the backup needs stays as long as the session does.
bool take(FileSystem& files, const CommandLine& line, std::string* why) {
  Server server;
  BackupSource source;
  std::vector<std::string> start(1);
  std::vector<std::string> stop(2);
  BackupLabel label;
  if (!server.connect(line, why) || !find_source(server, &source, why) ||
      (line.create_slot && !create_slot(server, line.slot, why)) ||
      !server.ask("SELECT pg_backup_start($1, true)", {line.label}, &start, why) ||
      !server.ask("SELECT lsn, labelfile FROM pg_backup_stop(false)", {}, &stop, why)) {
    return false;
  }
  if (!read_backup_label(stop[1], &label, why)) {
    *why = "the server's backup label " + *why;
    return false;
  }
  BackupCopyReport report;
  return copy(files, line, source, label, line.names[0], &report, why);
}

bool read_backup(FileSystem& files, const std::string& directory, BackupLabel* label,
                 std::string* why) {
  LabelRead read = read_label_file(files, directory, label, why);
  if (read == LabelRead::none) *why = "directory \"" + directory + "\" holds no backup";
  return read == LabelRead::ok;
}

// A backup with the log that was archived since, as the command line names it.
class Restorable {
 public:
  bool read(FileSystem& files, const CommandLine& line, std::string* why) {
    if (!read_backup(files, line.names[0], &label, why)) return false;
    earliest = earliest_stop(label);
    copied_ = label.control.incarnations.back().number;
    source = source_of_backup(line.names[0], label);
    if (line.archive.empty()) return true;
    return add_archive(files, line.archive, &source, why) && scan(files, why) &&
           extend_label(files, logs_, &label, &loss_, why);
  }
  bool read_times(FileSystem& files, StateTimes* times, std::string* why) {
    return scan(files, why) && times->read(logs_, label, earliest, why);
  }
  // Behind the last state something is missing that was there. False: `why`.
  bool is_whole(std::string* why) const {
    if (loss_.empty()) return true;
    *why = loss_ + "\nHINT:  Put a sound copy of the log in its place. The states up to epoch " +
           std::to_string(label.stop.value()) + " can be restored by naming one.";
    return false;
  }
  // The state that the command line asks for.
  bool choose(FileSystem& files, const CommandLine& line, std::string* why) {
    Epoch target;
    if (line.time_us) {
      StateTimes times;
      if (!read_times(files, &times, why)) return false;
      if (*line.time_us > times.last_us() && !is_whole(why)) return false;
      if (!times.find(*line.time_us, &target, why)) return false;
    } else if (line.epoch) {
      target = Epoch(*line.epoch);
    } else {
      return is_whole(why);
    }
    if (target < earliest) {
      *why = "the backup holds no state before epoch " + std::to_string(earliest.value()) +
             "\nHINT:  Restore an earlier backup, or name a later epoch.";
      return false;
    }
    if (target > label.stop && !is_whole(why)) return false;
    if (target > label.stop) {
      *why = "the backup holds no state after epoch " + std::to_string(label.stop.value()) +
             "\nHINT:  Add the log that was archived since, or name an earlier epoch.";
      return false;
    }
    end_label_at(target, copied_, &label);
    return true;
  }

  BackupLabel label;  // with what came after it
  Epoch earliest;
  BackupSource source;

 private:
  bool scan(FileSystem& files, std::string* why) {
    scanned_ =
        scanned_ || (logs_.find(files, source, label.control, why) && logs_.scan(files, why));
    return scanned_;
  }

  SourceLogs logs_;
  std::string loss_;
  bool scanned_ = false;
  uint64_t copied_ = 0;  // the start of the server that the backup was taken of
};

bool show(FileSystem& files, const CommandLine& line, std::string* why) {
  Restorable found;
  if (!found.read(files, line, why)) return false;
  const BackupLabel& label = found.label;
  auto number = [](Epoch epoch) { return static_cast<unsigned long long>(epoch.value()); };
  std::printf("label: %s\ndatabase: %s\nstate: epoch %llu (%s)\nearliest state: epoch %llu\n",
              label.label.c_str(), label.control.database.text().c_str(), number(label.stop),
              lsn_text(label.stop).c_str(), number(found.earliest));
  StateTimes times;
  if (!found.read_times(files, &times, why)) return false;
  std::printf("times of states: %s to %s\n", timestamp_text(times.first_us()).c_str(),
              timestamp_text(times.last_us()).c_str());
  return found.is_whole(why);
}

bool restore(FileSystem& files, const CommandLine& line, std::string* why) {
  const std::string& target = line.names[1];
  Restorable found;
  if (!found.read(files, line, why) || !found.choose(files, line, why)) return false;
  BackupCopyReport report;
  if (!copy(files, line, found.source, found.label, target, &report, why)) return false;
  say_how_to_start(target, report);
  return true;
}

bool run(const CommandLine& line, std::string* why) {
  std::unique_ptr<FileSystem> files = posix_file_system();
  if (line.command == "take") return take(*files, line, why);
  if (line.command == "show") return show(*files, line, why);
  if (line.command == "follow") return follow(*files, line, why);
  return restore(*files, line, why);
}

}  // namespace

int main(int count, char** words) {
  // A file that RLIMIT_FSIZE lets grow no further is an error of the write, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  CommandLine line;
  if (!read_command_line(count, words, &line)) return 2;
  if (line.help) {
    std::fputs(help, stdout);
    return 0;
  }
  std::string why;
  bool done = false;
  try {
    done = run(line, &why);
  } catch (const std::exception& error) {
    why = error.what();
  }
  std::fflush(stdout);
  if (!done) complain(program, why);
  return done ? 0 : 1;
}
