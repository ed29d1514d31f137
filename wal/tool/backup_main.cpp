// pgsilo-backup: takes backups of a running server, restores them (docs/backup.md).
#include <getopt.h>
#include <libpq-fe.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "wal/backup/backup_copy.h"
#include "wal/backup/state_times.h"
#include "wal/backup/timestamp.h"
#include "wal/tool/complaint.h"
#include "wal/tool/number_range.h"
#include "wal/tool/verify.h"

namespace {

using namespace pgsilo;

constexpr char program[] = "pgsilo-backup";
constexpr char help[] =
    "pgsilo-backup takes backups of a running pgsilo server, and restores them.\n"
    "\n"
    "Usage:\n"
    "  pgsilo-backup take [OPTION]... BACKUP         copy the server's data into a new directory\n"
    "  pgsilo-backup show BACKUP                     tell which states it holds\n"
    "  pgsilo-backup restore [OPTION]... BACKUP DIR  make a new data directory of it\n"
    "\n"
    "Options of take:\n"
    "  -h, --host=HOST        the server, which runs on this machine: directory of its socket, or "
    "host\n"
    "  -p, --port=PORT        its port\n"
    "  -U, --username=NAME    who connects\n"
    "  -l, --label=LABEL      the backup's name (default: pgsilo-backup)\n"
    "Options of restore:\n"
    "  -e, --target-epoch=N   the state at this epoch (default: that at which the backup was "
    "taken)\n"
    "  -t, --target-time=TIME the state at this time, such as \"2026-11-24 14:03:00.25+01\"; the "
    "zone must be named\n"
    "Options of both:\n"
    "  -n, --no-verify        do not read back and check what was copied\n"
    "  -?, --help             show this help, then exit\n"
    "\n"
    "Exit status: 0; 1 if it could not be done; 2 after a wrong command line.\n";

struct CommandLine {
  std::string command;
  std::vector<std::string> names;
  std::string host;
  std::string port;
  std::string user;
  std::string label = program;
  std::optional<uint64_t> epoch;
  std::optional<uint64_t> time_us;  // since 1970
  bool verify = true;
  bool help = false;
};

bool wrong(const std::string& what) {
  complain(program, what + "\nTry \"" + program + " --help\" for more information.");
  return false;
}

bool read_option(int option, const char* value, CommandLine* line) {
  uint64_t epoch = 0;
  uint64_t time_us = 0;
  switch (option) {
    case 'h':
      line->host = value;
      return true;
    case 'p':
      line->port = value;
      return true;
    case 'U':
      line->user = value;
      return true;
    case 'l':
      line->label = value;
      return true;
    case 'e':
      if (!parse_number(value, &epoch))
        return wrong("option --target-epoch wants a number, not \"" + std::string(value) + "\"");
      line->epoch = epoch;
      return true;
    case 't':
      if (!parse_timestamp(value, &time_us)) {
        return wrong(
            "option --target-time wants a time with its zone, such as \"2026-11-24 "
            "14:03:00.25+01\", not \"" +
            std::string(value) + "\"");
      }
      line->time_us = time_us;
      return true;
    case 'n':
      line->verify = false;
      return true;
    case 'H':
      line->help = true;
      return true;
    default:
      std::fprintf(stderr, "Try \"%s --help\" for more information.\n", program);
      return false;
  }
}

bool read_command_line(int count, char** words, CommandLine* line) {
  static const option options[] = {{"host", required_argument, nullptr, 'h'},
                                   {"port", required_argument, nullptr, 'p'},
                                   {"username", required_argument, nullptr, 'U'},
                                   {"label", required_argument, nullptr, 'l'},
                                   {"target-epoch", required_argument, nullptr, 'e'},
                                   {"target-time", required_argument, nullptr, 't'},
                                   {"no-verify", no_argument, nullptr, 'n'},
                                   {"help", no_argument, nullptr, 'H'},
                                   {nullptr, 0, nullptr, 0}};
  line->help = count > 1 && std::string(words[1]) == "-?";
  while (!line->help) {
    int option = getopt_long(count, words, "h:p:U:l:e:t:n", options, nullptr);
    if (option == -1) break;
    if (!read_option(option, optarg, line)) return false;
  }
  if (line->help) return true;
  if (optind == count) return wrong("a command is missing: take, show or restore");
  line->command = words[optind];
  line->names.assign(words + optind + 1, words + count);
  if (line->command == "take" || line->command == "show")
    return line->names.size() == 1 || wrong("one backup directory must be named");
  if (line->command != "restore") return wrong("unknown command \"" + line->command + "\"");
  if (line->epoch && line->time_us)
    return wrong("options --target-epoch and --target-time exclude each other");
  return line->names.size() == 2 ||
         wrong("a backup and a new data directory must be named, in this order");
}

// --- the server ---

class Server {
 public:
  bool connect(const CommandLine& line, std::string* why) {
    std::vector<const char*> keys = {"dbname", "application_name"};
    std::vector<const char*> values = {"postgres", program};
    auto add = [&](const char* key, const std::string& value) {
      if (value.empty()) return;
      keys.push_back(key);
      values.push_back(value.c_str());
    };
    add("host", line.host);
    add("port", line.port);
    add("user", line.user);
    keys.push_back(nullptr);
    values.push_back(nullptr);
    connection_.reset(PQconnectdbParams(keys.data(), values.data(), 0));
    PQsetNoticeProcessor(connection_.get(), [](void*, const char*) {}, nullptr);
    return PQstatus(connection_.get()) == CONNECTION_OK || fail(why);
  }
  // The only row's first values, as many as `row` has.
  bool ask(const char* statement, const std::vector<std::string>& parameters,
           std::vector<std::string>* row, std::string* why) {
    std::vector<const char*> values;
    values.reserve(parameters.size());
    for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
    std::unique_ptr<PGresult, void (*)(PGresult*)> result(
        PQexecParams(connection_.get(), statement, static_cast<int>(values.size()), nullptr,
                     values.data(), nullptr, nullptr, 0),
        PQclear);
    if (PQresultStatus(result.get()) != PGRES_TUPLES_OK || PQntuples(result.get()) != 1)
      return fail(why);
    for (size_t i = 0; i < row->size(); ++i)
      (*row)[i] = PQgetvalue(result.get(), 0, static_cast<int>(i));
    return true;
  }

 private:
  bool fail(std::string* why) {
    *why = PQerrorMessage(connection_.get());
    while (!why->empty() && why->back() == '\n') why->pop_back();
    if (why->starts_with("ERROR:  ")) why->erase(0, 8);
    return false;
  }

  std::unique_ptr<PGconn, void (*)(PGconn*)> connection_{nullptr, PQfinish};
};

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    size_t comma = std::min(text.find(',', at), text.size());
    std::string word = text.substr(at, comma - at);
    word.erase(0, word.find_first_not_of(' '));
    if (!word.empty()) words.push_back(word);
    at = comma + 1;
  }
  return words;
}

bool find_source(Server& server, BackupSource* source, std::string* why) {
  std::vector<std::string> settings(3);
  if (!server.ask("SELECT current_setting('data_directory'), current_setting('log_directories'), "
                  "current_setting('checkpoint_directories')",
                  {}, &settings, why)) {
    return false;
  }
  source->data_directory = settings[0];
  const WalOptions usual;
  source->log_directories = split_commas(settings[1]);
  if (source->log_directories.empty()) source->log_directories = usual.log_directories;
  source->checkpoint_directories = split_commas(settings[2]);
  if (source->checkpoint_directories.empty())
    source->checkpoint_directories = usual.checkpoint_directories;
  return true;
}

// --- commands ---

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

// The log that the backup needs stays as long as the session does.
bool take(FileSystem& files, const CommandLine& line, std::string* why) {
  Server server;
  BackupSource source;
  std::vector<std::string> start(1);
  std::vector<std::string> stop(2);
  BackupLabel label;
  if (!server.connect(line, why) || !find_source(server, &source, why) ||
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

bool show(FileSystem& files, const CommandLine& line, std::string* why) {
  BackupLabel label;
  if (!read_backup(files, line.names[0], &label, why)) return false;
  auto number = [](Epoch epoch) { return static_cast<unsigned long long>(epoch.value()); };
  std::printf("label: %s\ndatabase: %s\nstate: epoch %llu (%s)\nearliest state: epoch %llu\n",
              label.label.c_str(), label.control.database.text().c_str(), number(label.stop),
              lsn_text(label.stop).c_str(), number(earliest_stop(label)));
  StateTimes times;
  if (!times.read(files, source_of_backup(line.names[0], label), label, why)) return false;
  std::printf("times of states: %s to %s\n", timestamp_text(times.first_us()).c_str(),
              timestamp_text(times.last_us()).c_str());
  return true;
}

// The state that the command line asks for.
bool choose_stop(FileSystem& files, const CommandLine& line, BackupLabel* label, std::string* why) {
  if (line.time_us) {
    StateTimes times;
    return times.read(files, source_of_backup(line.names[0], *label), *label, why) &&
           times.find(*line.time_us, &label->stop, why);
  }
  if (!line.epoch) return true;
  if (*line.epoch < earliest_stop(*label).value()) {
    *why = "the backup holds no state before epoch " +
           std::to_string(earliest_stop(*label).value()) +
           "\nHINT:  Restore an earlier backup, or name a later epoch.";
    return false;
  }
  label->stop = Epoch(*line.epoch);
  return true;
}

bool restore(FileSystem& files, const CommandLine& line, std::string* why) {
  const std::string& target = line.names[1];
  BackupLabel label;
  if (!read_backup(files, line.names[0], &label, why)) return false;
  if (!choose_stop(files, line, &label, why)) return false;
  BackupCopyReport report;
  if (!copy(files, line, source_of_backup(line.names[0], label), label, target, &report, why))
    return false;
  say_how_to_start(target, report);
  return true;
}

bool run(const CommandLine& line, std::string* why) {
  std::unique_ptr<FileSystem> files = posix_file_system();
  if (line.command == "take") return take(*files, line, why);
  if (line.command == "show") return show(*files, line, why);
  return restore(*files, line, why);
}

}  // namespace

int main(int count, char** words) {
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
