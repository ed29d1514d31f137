#include "wal/tool/backup/follow.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <optional>
#include <vector>

#include "wal/backup/log_archive.h"
#include "wal/layout/control_file.h"
#include "wal/layout/lsn_text.h"
#include "wal/layout/slot_file.h"
#include "wal/tool/backup/server_connection.h"
#include "wal/tool/complaint.h"

namespace pgsilo::backup_tool {
namespace {

volatile sig_atomic_t told_to_end = 0;

// Its sleep is cut short. Told again it ends at once, for a server that does not answer, say.
void listen_for_the_end() {
  struct sigaction action{};
  action.sa_handler = [](int) { told_to_end = 1; };
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void rest() {
  timespec pause{.tv_sec = 1, .tv_nsec = 0};
  nanosleep(&pause, nullptr);
}

class Follower {
 public:
  Follower(FileSystem& files, const CommandLine& line)
      : files_(files), line_(line), archive_(files, line.names[0]) {}

  bool run(std::string* why) {
    while (told_to_end == 0) {
      may_get_better_ = false;
      bool done = (is_open_ || open(why)) && come(why) && go_on(why);
      if (done) told_.clear();
      if (line_.once || (!done && !may_get_better_)) return done;
      if (!done) tell_once(*why);
      // A server that is told to end by SIGTERM waits for all who are connected.
      server_.disconnect();
      rest();
    }
    return true;
  }

 private:
  bool open(std::string* why) {
    is_open_ = archive_.open(why);
    return is_open_ || tried_again(archive_.may_be_tried_again());
  }

  bool come(std::string* why) {
    return server_.connect(line_, why) || tried_again(!server_.refuses());
  }

  // Always false.
  bool tried_again(bool may) {
    may_get_better_ = may;
    return false;
  }

  // Of a statement: the server has gone, or lacks something.
  bool statement_failed() {
    return tried_again(!server_.is_connected() || server_.lacks_something());
  }

  // Each reason once, however often it is tried again.
  void tell_once(const std::string& why) {
    if (why != told_) complain(program, why + "\nIt is tried again until it can be done.");
    told_ = why;
  }

  // What is durable when it is asked for is in the archive afterwards.
  bool go_on(std::string* why) {
    std::vector<std::string> now(2);
    std::optional<LogSlot> slot;
    if (!server_.ask("SELECT pg_current_wal_flush_lsn(), (SELECT wal_status FROM "
                     "pg_replication_slots WHERE slot_name = $1)",
                     {line_.slot}, &now, why)) {
      return statement_failed();
    }
    if (!is_usable(now[1], why)) return false;
    // A start that logs nothing has a begin block. One that cannot, for want of space, is done with
    // what those before logged.
    const bool keeps_little = now[1] == "reserved";
    if (now[0] == archived_ && present_start() == start_ && keeps_little) return true;
    // It may log elsewhere than in the turn before.
    if (!find_source(server_, &source_, why)) return statement_failed();
    if (!find_slot(&slot, why)) return false;
    const uint64_t start = present_start();  // before its log is looked at
    const Epoch told = epoch_of_lsn_text(now[0]);
    bool copied = archive_.copy(source_, *slot, why, told);
    for (const std::string& left : archive_.take_left())
      std::fprintf(stderr, "%s: warning: %s\n", program, left.c_str());
    if (!copied) return tried_again(archive_.may_be_tried_again());
    // One that is new may be ahead, at a checkpoint behind which nothing was logged.
    std::vector<std::string> moved(1, now[0]);
    if (told >= slot->restart &&
        !server_.ask("SELECT end_lsn FROM pg_replication_slot_advance($1, $2::pg_lsn)",
                     {line_.slot, now[0]}, &moved, why)) {
      return statement_failed();
    }
    archived_ = now[0];
    start_ = start;
    if (line_.once) {
      std::printf("%llu kB, log archived up to %s\n",
                  static_cast<unsigned long long>(archive_.copied_bytes() >> 10), moved[0].c_str());
    }
    return true;
  }

  // Of the server whose log was archived last; 0: its control file cannot be read.
  uint64_t present_start() {
    ControlFile control;
    FileResult failure;
    const bool read =
        read_control_file(files_, source_.data_directory, &control, &failure) == ControlRead::ok;
    return read ? control.last_incarnation : 0;
  }

  bool is_usable(const std::string& wal_status, std::string* why) const {
    if (!wal_status.empty() && wal_status != "lost") return true;
    *why = "replication slot \"" + line_.slot + "\" " +
           (wal_status.empty()
                ? "does not exist, or keeps no log\nHINT:  Let \"pgsilo-backup take "
                  "--create-slot\" make it, so that a backup is there on which the archive rests."
                : "is lost: the server did not keep the log that was not yet archived\nHINT:  Drop "
                  "it, and begin a new archive with a new backup, behind a CHECKPOINT.");
    return false;
  }

  // From which segments on it keeps the logs.
  bool find_slot(std::optional<LogSlot>* slot, std::string* why) {
    LogDirectory log(files_, join_path(source_.data_directory, source_.log_directories[0]));
    bool call_failed = false;
    if (!log.read_identity(why, &call_failed)) return tried_again(call_failed);
    if (!log.has_identity()) {
      *why = "directory \"" + log.path() + "\" holds no log";
      return tried_again(true);
    }
    std::vector<LogSlot> slots;
    FileResult failure;
    SlotsRead read = read_slots(files_, source_.data_directory, log.database(), &slots, &failure);
    if (read != SlotsRead::ok) {
      *why = "could not read file \"" + join_path(source_.data_directory, slot_file_name) + "\": " +
             (!failure.ok()                      ? failure.text()
              : read == SlotsRead::other_version ? "it was written by another version of pgsilo"
                                                 : "it is damaged");
      return tried_again(!failure.ok());
    }
    auto found = std::ranges::find(slots, line_.slot, &LogSlot::name);
    if (found != slots.end()) *slot = *found;
    if (found == slots.end()) *why = "replication slot \"" + line_.slot + "\" is a temporary one";
    return found != slots.end();
  }

  FileSystem& files_;
  const CommandLine& line_;
  LogArchive archive_;
  Server server_;
  BackupSource source_;
  bool is_open_ = false;         // the archive
  bool may_get_better_ = false;  // what failed
  std::string told_;             // what was complained of last
  std::string archived_;         // up to where
  uint64_t start_ = 0;           // of the server, that was then
};

}  // namespace

bool follow(FileSystem& files, const CommandLine& line, std::string* why) {
  listen_for_the_end();
  return Follower(files, line).run(why);
}

}  // namespace pgsilo::backup_tool
