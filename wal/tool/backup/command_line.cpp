#include "wal/tool/backup/command_line.h"

#include <algorithm>
#include <string_view>

#include "wal/backup/timestamp.h"
#include "wal/tool/number_range.h"
#include "wal/tool/options.h"

namespace pgsilo::backup_tool {

const char help[] =
    "pgsilo-backup takes backups of a running pgsilo server, and restores them.\n"
    "\n"
    "Usage:\n"
    "  pgsilo-backup take [OPTION]... BACKUP         copy the server's data into a new directory\n"
    "  pgsilo-backup follow [OPTION]... ARCHIVE      copy the server's log as it is written\n"
    "  pgsilo-backup show [OPTION]... BACKUP         tell which states it holds\n"
    "  pgsilo-backup restore [OPTION]... BACKUP DIR  make a new data directory of it\n"
    "\n"
    "Options of take and follow:\n"
    "  -h, --host=HOST        the server, which runs on this machine: directory of its socket, or "
    "host\n"
    "  -p, --port=PORT        its port\n"
    "  -U, --username=NAME    who connects\n"
    "  -S, --slot=SLOT        the replication slot that keeps the log until follow has copied it\n"
    "Options of take:\n"
    "  -l, --label=LABEL      the backup's name (default: pgsilo-backup)\n"
    "  -C, --create-slot      make that slot first, so that an archive can go on from the backup\n"
    "Options of follow:\n"
    "  -1, --once             copy what there is, then end\n"
    "Options of show and restore:\n"
    "  -A, --archive=ARCHIVE  with the log that was archived since\n"
    "Options of restore:\n"
    "  -e, --target-epoch=N   the state at this epoch (default: that at which the backup was "
    "taken, or the last in the archive)\n"
    "  -t, --target-time=TIME the state at this time, such as \"2026-11-24 14:03:00.25+01\"; the "
    "zone must be named\n"
    "Options of take and restore:\n"
    "  -n, --no-verify        do not read back and check what was copied\n"
    "  -?, --help             show this help, then exit\n"
    "\n"
    "Exit status: 0; 1 if it could not be done; 2 after a wrong command line.\n";

namespace {

bool wrong(const std::string& what) { return wrong_usage(program, what); }

struct Command {
  const char* name;
  const char* options;  // their letters
  size_t names;
  const char* wanted;  // ... which must be
};

constexpr Command commands[] = {
    {"take", "hpUSCln", 1, "one backup directory must be named"},
    {"follow", "hpUS1", 1, "one archive directory must be named"},
    {"show", "A", 1, "one backup directory must be named"},
    {"restore", "Aetn", 2, "a backup and a new data directory must be named, in this order"},
};

constexpr ToolOption options[] = {
    {'h', "host", true},        {'p', "port", true},      {'U', "username", true},
    {'l', "label", true},       {'S', "slot", true},      {'C', "create-slot", false},
    {'1', "once", false},       {'A', "archive", true},   {'e', "target-epoch", true},
    {'t', "target-time", true}, {'n', "no-verify", false}};

bool read_target_epoch(const char* value, CommandLine* line) {
  uint64_t epoch = 0;
  if (!parse_number(value, &epoch))
    return wrong_value(program, "--target-epoch", "a number", value);
  line->epoch = epoch;
  return true;
}

bool read_target_time(const char* value, CommandLine* line) {
  uint64_t time_us = 0;
  if (!parse_timestamp(value, &time_us)) {
    return wrong_value(program, "--target-time",
                       "a time with its zone, such as \"2026-11-24 14:03:00.25+01\"", value);
  }
  line->time_us = time_us;
  return true;
}

// An empty one is mostly a variable that was not set.
bool read_archive(const char* value, CommandLine* line) {
  line->archive = value;
  return !line->archive.empty() || wrong_value(program, "--archive", "a directory", value);
}

bool read_option(char letter, const char* value, CommandLine* line) {
  switch (letter) {
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
    case 'S':
      line->slot = value;
      return true;
    case 'C':
      line->create_slot = true;
      return true;
    case '1':
      line->once = true;
      return true;
    case 'A':
      return read_archive(value, line);
    case 'e':
      return read_target_epoch(value, line);
    case 't':
      return read_target_time(value, line);
    default:
      line->verify = false;
      return true;
  }
}

// One that a command would not heed is a mistake: "show" with a target tells of another state.
bool heeds_all(const Command& command, const std::string& given) {
  for (char letter : given) {
    if (std::string_view(command.options).find(letter) != std::string_view::npos) continue;
    const ToolOption* found = std::ranges::find(options, letter, &ToolOption::letter);
    return wrong("option --" + std::string(found->name) + " is none of \"" + command.name + "\"");
  }
  return true;
}

bool check_command_line(const CommandLine& line, const std::string& given) {
  const Command* command = std::ranges::find(commands, line.command, &Command::name);
  if (command == std::end(commands)) return wrong("unknown command \"" + line.command + "\"");
  if (!heeds_all(*command, given)) return false;
  if (line.create_slot && line.slot.empty()) return wrong("option --create-slot wants --slot");
  if (line.command == "take" && !line.create_slot && !line.slot.empty())
    return wrong("option --slot wants --create-slot");
  if (line.command == "follow" && line.slot.empty()) return wrong("option --slot is missing");
  if (line.epoch && line.time_us)
    return wrong("options --target-epoch and --target-time exclude each other");
  return line.names.size() == command->names || wrong(command->wanted);
}

}  // namespace

bool read_command_line(int count, char** words, CommandLine* line) {
  ToolWords read;
  std::string given;
  auto take = [&](char letter, const char* value) {
    given += letter;
    return read_option(letter, value, line);
  };
  if (!read_options(program, options, count, words, &read, take)) return false;
  line->help = read.help;
  if (line->help) return true;
  if (read.names.empty()) return wrong("a command is missing: take, follow, show or restore");
  line->command = read.names.front();
  line->names.assign(read.names.begin() + 1, read.names.end());
  return check_command_line(*line, given);
}

}  // namespace pgsilo::backup_tool
