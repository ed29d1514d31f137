// Counts the lines that transactions share, with 2, 8 and 32 workers (docs/scaling.md).
#include <sys/personality.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/scaling/count_table.h"
#include "tests/scaling/measurement.h"

namespace pgsilo::scaling {
namespace {

constexpr const char* usage =
    "usage: scaling [--check PAGE | --update PAGE | --uses [WORDS]]\n"
    "  without any    prints the table\n"
    "  --check        compares it with that of the page\n"
    "  --update       writes it in place of that, and keeps what the page gives as reasons\n"
    "  --uses         prints who uses each line where, of transactions with these words in their "
    "name\n";

// The same addresses in every run, and memory of each thread's own: both are settled before a
// program begins.
void settle_memory(char** argv) {
  constexpr const char* setting = "MALLOC_CONF";
  constexpr const char* own_arenas = "narenas:64";
  const char* now = std::getenv(setting);
  if (now != nullptr && std::strcmp(now, own_arenas) == 0) return;
  setenv(setting, own_arenas, 1);
  personality(ADDR_NO_RANDOMIZE);
  execv("/proc/self/exe", argv);
  std::perror("execv");
  std::exit(2);
}

std::vector<Counts> count_all() {
  Measurement measurement(worker_counts.back());
  const std::vector<WorkloadKind> all = all_kinds();
  for (unsigned workers : worker_counts) {
    for (const WorkloadKind& kind : all) measurement.run(kind, workers);
  }
  std::vector<Counts> counts;
  if (measurement.finish(&counts)) return counts;
  std::fprintf(stderr,
               "addr2line (binutils) cannot tell where the program's instructions are from\n");
  std::exit(2);
}

void print_uses(const std::vector<Counts>& counts, const char* words) {
  for (const Counts& count : counts) {
    if (count.part.find(words) == std::string::npos) continue;
    std::printf("%s, %u workers, %.2f locked instructions: written, transfers, locked\n",
                count.part.c_str(), count.workers, count.locked);
    for (const auto& [name, line] : count.uses) {
      std::printf("  %6.2f %6.2f %6.2f  %s\n", line.written, line.transfers, line.locked,
                  name.c_str());
    }
  }
}

int check(const CountTable& measured, const char* page) {
  CountTable expected;
  if (!expected.read(page)) {
    std::fprintf(stderr, "%s has no table of lines\n", page);
    return 2;
  }
  std::vector<std::string> differences = expected.differences(measured);
  for (const std::string& difference : differences) std::printf("%s\n", difference.c_str());
  if (differences.empty()) {
    std::printf("as %s says\n", page);
    return 0;
  }
  std::printf("If that is as it should be: scaling --update %s, and say why there.\n", page);
  return 1;
}

int run(int argc, char** argv) {
  std::string mode = argc > 1 ? argv[1] : "";
  bool takes_page = mode == "--check" || mode == "--update";
  if ((takes_page && argc != 3) || (!takes_page && !mode.empty() && mode != "--uses")) {
    std::fputs(usage, stderr);
    return 2;
  }
  settle_memory(argv);
  std::vector<Counts> counts = count_all();
  CountTable measured(counts);
  if (mode == "--check") return check(measured, argv[2]);
  if (mode == "--update") return measured.replace_in(argv[2]) ? 0 : 2;
  if (mode == "--uses") {
    print_uses(counts, argc > 2 ? argv[2] : "");
  } else {
    std::fputs(measured.text().c_str(), stdout);
  }
  return 0;
}

}  // namespace
}  // namespace pgsilo::scaling

int main(int argc, char** argv) { return pgsilo::scaling::run(argc, argv); }
