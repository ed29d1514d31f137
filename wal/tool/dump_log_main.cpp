// pgsilo-dump-log: prints the records of a log (docs/tools.md).
#include <getopt.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/file.h"
#include "wal/layout/control_file.h"
#include "wal/layout/log_directory.h"
#include "wal/tool/log_dump.h"
#include "wal/tool/log_places.h"
#include "wal/tool/number_range.h"

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

bool wrong(const std::string& what) {
  std::fprintf(stderr, "%s: error: %s\n", program, what.c_str());
  std::fprintf(stderr, "Try \"%s --help\" for more information.\n", program);
  return false;
}

bool read_number(const char* option, const char* text, uint64_t largest, uint64_t* number) {
  if (parse_number(text, number) && *number <= largest) return true;
  return wrong("option " + std::string(option) + " wants a number, not \"" + text + "\"");
}

bool read_option(int option, const char* value, CommandLine* line) {
  uint64_t number = 0;
  switch (option) {
    case 'D':
      line->data_directory = value;
      return true;
    case 'L':
      line->log_directories.emplace_back(value);
      return true;
    case 'e': {
      uint64_t last = 0;
      if (!parse_number_range(value, &number, &last))
        return wrong("option --epoch wants FROM, FROM-TO or FROM-, not \"" + std::string(value) +
                     "\"");
      line->dump.first = Epoch(number);
      line->dump.last = Epoch(last);
      return true;
    }
    case 'r':
      if (!read_number("--relation", value, UINT32_MAX, &number)) return false;
      line->dump.relation = RelationId(static_cast<uint32_t>(number));
      return true;
    case 'n':
      return read_number("--limit", value, UINT64_MAX, &line->dump.limit);
    case 'b':
      line->dump.blocks = true;
      return true;
    case 'z':
      line->dump.statistics = true;
      return true;
    default:
      line->help = option == 'h';
      return line->help;
  }
}

bool read_command_line(int count, char** words, CommandLine* line) {
  static const option options[] = {{"datadir", required_argument, nullptr, 'D'},
                                   {"log-directory", required_argument, nullptr, 'L'},
                                   {"epoch", required_argument, nullptr, 'e'},
                                   {"relation", required_argument, nullptr, 'r'},
                                   {"limit", required_argument, nullptr, 'n'},
                                   {"blocks", no_argument, nullptr, 'b'},
                                   {"stats", no_argument, nullptr, 'z'},
                                   {"help", no_argument, nullptr, 'h'},
                                   {nullptr, 0, nullptr, 0}};
  if (count > 1 && std::string(words[1]) == "-?") {
    line->help = true;
    return true;
  }
  for (int option; (option = getopt_long(count, words, "D:L:e:r:n:bz", options, nullptr)) != -1;) {
    if (!read_option(option, optarg, line)) {
      if (option == '?') std::fprintf(stderr, "Try \"%s --help\" for more information.\n", program);
      return false;
    }
    if (line->help) return true;
  }
  line->files.assign(words + optind, words + count);
  const char* data = std::getenv("PGDATA");
  if (line->files.empty() && line->data_directory.empty() && data != nullptr)
    line->data_directory = data;
  if (!line->files.empty() && !line->data_directory.empty())
    return wrong("either a data directory or files");
  return !line->files.empty() || !line->data_directory.empty() ||
         wrong("no data directory and no file named");
}

bool complain(const std::string& what) {
  std::fprintf(stderr, "%s: error: %s\n", program, what.c_str());
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
