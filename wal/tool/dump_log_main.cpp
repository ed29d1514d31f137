// pgsilo-dump-log: prints the records of a log (docs/tools.md).
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "wal/layout/control_file.h"
#include "wal/layout/log_directory.h"
#include "wal/tool/complaint.h"
#include "wal/tool/log_dump.h"
#include "wal/tool/log_places.h"
#include "wal/tool/number_range.h"
#include "wal/tool/options.h"

namespace {

using namespace pgsilo;

constexpr char program[] = "pgsilo-dump-log";
constexpr char help[] =
    "pgsilo-dump-log prints the records of a pgsilo log.\n"
    "\n"
    "Usage:\n"
    "  pgsilo-dump-log [OPTION]... [-D DATADIR | FILE...]\n"
    "\n"
    "Options:\n"
    "  -D, --datadir=DATADIR        all logs of this data directory (default: $PGDATA)\n"
    "  -L, --log-directory=DIR      a log that lies outside of it; may be given repeatedly\n"
    "  -e, --epoch=FROM[-[TO]]      only entries of these epochs\n"
    "  -r, --relation=ID            only entries of this relation\n"
    "  -n, --limit=N                no more than N entries\n"
    "  -b, --blocks                 headers and trailers of blocks, too\n"
    "  -z, --stats                  counts by incarnation and relation instead\n"
    "  -?, --help                   show this help, then exit\n"
    "\n"
    "It reads only and takes no lock: a server may run meanwhile. What is being written then\n"
    "looks like a torn end.\n"
    "Exit status: 0, or 1 if something could not be read, or 2 after a wrong command line.\n";

struct CommandLine {
  DumpOptions dump;
  std::string data_directory;
  std::vector<std::string> log_directories;
  std::vector<std::string> files;
  bool help = false;
};

bool read_number(const char* option, const char* text, uint64_t largest, uint64_t* number) {
  if (parse_number(text, number) && *number <= largest) return true;
  return wrong_value(program, option, "a number", text);
}

bool read_epochs(const char* text, DumpOptions* dump) {
  uint64_t first = 0;
  uint64_t last = 0;
  if (!parse_number_range(text, &first, &last))
    return wrong_value(program, "--epoch", "FROM, FROM-TO or FROM-", text);
  dump->first = Epoch(first);
  dump->last = Epoch(last);
  return true;
}

bool read_option(char letter, const char* value, CommandLine* line) {
  uint64_t number = 0;
  switch (letter) {
    case 'D':
      line->data_directory = value;
      return true;
    case 'L':
      line->log_directories.emplace_back(value);
      return true;
    case 'e':
      return read_epochs(value, &line->dump);
    case 'r':
      if (!read_number("--relation", value, UINT32_MAX, &number)) return false;
      line->dump.relation = RelationId(static_cast<uint32_t>(number));
      return true;
    case 'n':
      return read_number("--limit", value, UINT64_MAX, &line->dump.limit);
    case 'b':
      line->dump.blocks = true;
      return true;
    default:
      line->dump.statistics = true;
      return true;
  }
}

bool read_command_line(int count, char** words, CommandLine* line) {
  static constexpr ToolOption options[] = {{'D', "datadir", true}, {'L', "log-directory", true},
                                           {'e', "epoch", true},   {'r', "relation", true},
                                           {'n', "limit", true},   {'b', "blocks", false},
                                           {'z', "stats", false}};
  ToolWords read;
  if (!read_options(program, options, count, words, &read, [&](char letter, const char* value) {
        return read_option(letter, value, line);
      }))
    return false;
  line->help = read.help;
  if (line->help) return true;
  line->files = std::move(read.names);
  const char* data = std::getenv("PGDATA");
  if (line->files.empty() && line->data_directory.empty() && data != nullptr)
    line->data_directory = data;
  if (!line->files.empty() && !line->data_directory.empty())
    return wrong_usage(program, "either a data directory or files");
  return !line->files.empty() || !line->data_directory.empty() ||
         wrong_usage(program, "no data directory and no file named");
}

bool complain(const std::string& what) {
  pgsilo::complain(program, what);
  return false;
}

bool dump_directory(FileSystem& files, const std::string& path, LogDump& dump) {
  LogDirectory directory(files, path);
  std::string why;
  if (!directory.read_identity(&why)) return complain(why);
  if (!directory.has_identity()) return complain("directory \"" + path + "\" holds no log");
  std::vector<uint64_t> segments;
  FileResult result = directory.list_segments(&segments);
  if (!result.ok())
    return complain("could not read log directory \"" + path + "\": " + result.text());
  dump.begin_log(path, directory.log());
  bool whole = true;
  for (uint64_t segment : segments) {
    if (dump.limit_reached()) break;
    std::string file = directory.segment_path(segment);
    result = dump.dump_segment(file, segment);
    // A server that runs meanwhile removes what it needs no more.
    if (!result.ok() && result.status != FileStatus::not_found)
      whole = complain("could not read log segment \"" + file + "\": " + result.text());
  }
  return whole;
}

bool dump_all(FileSystem& files, const CommandLine& line, LogDump& dump) {
  bool whole = true;
  for (const std::string& file : line.files) {
    FileResult result = dump.dump_file(file);
    if (!result.ok()) whole = complain("could not read file \"" + file + "\": " + result.text());
  }
  if (!line.files.empty()) return whole;
  // Without a control file that can be read there are still the log directories that are named.
  ControlFile control;
  if (read_control_file(files, line.data_directory, &control) != ControlRead::ok)
    whole = complain("could not read control file \"" +
                     join_path(line.data_directory, control_file_name) + "\"");
  std::vector<LogIdentity> elsewhere;
  for (const std::string& name : find_log_directories(files, line.data_directory, control,
                                                      line.log_directories, &elsewhere)) {
    if (dump.limit_reached()) break;
    whole &= dump_directory(files, join_path(line.data_directory, name), dump);
  }
  for (const LogIdentity& log : elsewhere) {
    whole = complain("log \"" + log.path + "\" (" + log.log.text() +
                     ") is not in the data directory: name it with --log-directory");
  }
  return whole;
}

}  // namespace

int main(int count, char** words) {
  CommandLine line;
  if (!read_command_line(count, words, &line)) return 2;
  if (line.help) {
    std::fputs(help, stdout);
    return 0;
  }
  std::unique_ptr<FileSystem> files = posix_file_system();
  LogDump dump(*files, line.dump, stdout);
  bool whole = dump_all(*files, line, dump);
  dump.finish();
  if (std::fflush(stdout) != 0) whole = complain("could not write to the standard output");
  return whole ? 0 : 1;
}
