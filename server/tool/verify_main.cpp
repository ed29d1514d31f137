// pgsilo-verify: checks a data directory without a server (docs/tools.md).
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "catalog/catalog.h"
#include "storage/epoch/reclaimer.h"
#include "wal/tool/complaint.h"
#include "wal/tool/number_range.h"
#include "wal/tool/options.h"
#include "wal/tool/verify.h"

namespace {

using namespace pgsilo;

constexpr char program[] = "pgsilo-verify";
constexpr char help[] =
    "pgsilo-verify checks a data directory of pgsilo and tells what a start would recover.\n"
    "\n"
    "Usage:\n"
    "  pgsilo-verify [OPTION]... DATADIR\n"
    "\n"
    "Options:\n"
    "  -L, --log-directory=DIR      a log outside of the data directory; may be given repeatedly;\n"
    "                               relative ones lie in the data directory\n"
    "  -C, --checkpoint-directory=DIR\n"
    "                               files of a checkpoint that are not where the control file has "
    "them\n"
    "  -j, --jobs=N                 threads (default: one per CPU)\n"
    "  -P, --progress               show how far it is\n"
    "  -q, --quiet                  no report, errors only\n"
    "  -?, --help                   show this help, then exit\n"
    "\n"
    "No server may run on the directory meanwhile. Nothing in it is changed.\n"
    "Exit status: 0 if it is sound; 1 if a start would refuse it, with the start's words; 2 after "
    "a\n"
    "wrong command line, or if there is no database that can be read.\n";

struct CommandLine {
  VerifyOptions verify;
  bool progress = false;
  bool quiet = false;
  bool help = false;
};

class ProgressPrinter final : public RecoveryListener {
 public:
  void on_progress(const RecoveryProgress& progress) override {
    std::fprintf(stderr, "%s: %llu of %llu kB (%.0f%%)\n", program,
                 static_cast<unsigned long long>(progress.bytes_done >> 10),
                 static_cast<unsigned long long>(progress.bytes_total >> 10), progress.percent());
  }
};

void complain(const std::string& why) { pgsilo::complain(program, why); }

bool read_option(char letter, const char* value, CommandLine* line) {
  uint64_t threads = 0;
  switch (letter) {
    case 'L':
      line->verify.log_directories.emplace_back(value);
      return true;
    case 'C':
      line->verify.checkpoint_directories.emplace_back(value);
      return true;
    case 'j':
      if (!parse_number(value, &threads) || threads == 0 || threads > 4096)
        return wrong_value(program, "--jobs", "a number of threads", value);
      line->verify.threads = static_cast<unsigned>(threads);
      return true;
    case 'P':
      line->progress = true;
      return true;
    default:
      line->quiet = true;
      return true;
  }
}

bool read_command_line(int count, char** words, CommandLine* line) {
  static constexpr ToolOption options[] = {{'L', "log-directory", true},
                                           {'C', "checkpoint-directory", true},
                                           {'j', "jobs", true},
                                           {'P', "progress", false},
                                           {'q', "quiet", false}};
  ToolWords read;
  if (!read_options(program, options, count, words, &read, [&](char letter, const char* value) {
        return read_option(letter, value, line);
      }))
    return false;
  line->help = read.help;
  if (line->help) return true;
  if (read.names.size() != 1) return wrong_usage(program, "one data directory must be named");
  line->verify.data_directory = read.names[0];
  return true;
}

std::vector<RelationId> live_relations(RelationDirectory& relations, Reclaimer& reclaimer) {
  ReclaimerHandle handle(reclaimer);
  Catalog catalog(relations);
  catalog.create_system_relations();
  return catalog.live_relations(handle);
}

Verdict verify(const CommandLine& line, std::string* why) {
  std::unique_ptr<FileSystem> files = posix_file_system();
  MonotonicClock clock;
  ProgressPrinter progress;
  VerifyOptions options = line.verify;
  options.live = live_relations;
  return verify_data_directory(*files, clock, options, line.progress ? &progress : nullptr,
                               line.quiet ? nullptr : stdout, why);
}

}  // namespace

int main(int count, char** words) {
  CommandLine line;
  if (!read_command_line(count, words, &line)) return static_cast<int>(Verdict::unreadable);
  if (line.help) {
    std::fputs(help, stdout);
    return 0;
  }
  std::string why;
  Verdict verdict = Verdict::unreadable;
  try {
    verdict = verify(line, &why);
  } catch (const std::exception& error) {
    why = error.what();
  }
  std::fflush(stdout);
  if (verdict != Verdict::sound) complain(why);
  if (verdict == Verdict::damaged) complain("the data directory is damaged: a start would refuse");
  return static_cast<int>(verdict);
}
