// Random sessions against a server of its own, in rounds: usage:
//   session_fuzz PGSILO DIRECTORY [--seconds N] [--rounds N] [--seed N] [--first-round N]
//                [--sessions N] [--batches N] [--port N] [--slow N] [--only SESSION] [--from BATCH]
//                [--to BATCH] [--stop]
// DIRECTORY: empty: a new one, which is kept if something was found.
// Each round is a function of the seed and its number: --first-round repeats one (with a server
// that has not seen those before it). --slow: how many times longer everything may take.
// --stop: at the first finding. What is found lies in DIRECTORY/finding-N; the exit status tells
// whether there was anything.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <set>

#include "tests/sessions/aftermath.h"
#include "tests/sessions/round_runner.h"
#include "tests/sessions/scratch_directory.h"

namespace {

using namespace pgsilo::sessions;
using Clock = std::chrono::steady_clock;

struct Wishes {
  std::string binary, directory;
  std::map<std::string, long> numbers = {
      {"--seconds", 60}, {"--rounds", 1000000}, {"--seed", 1},    {"--first-round", 0},
      {"--sessions", 6}, {"--batches", 60},     {"--port", 6700}, {"--slow", 1},
      {"--only", -1},    {"--from", 0},         {"--to", 1000000}};
  bool stops = false;

  long operator[](const char* name) const { return numbers.at(name); }
};

bool read_wishes(int count, char** words, Wishes* wishes) {
  if (count < 3) return false;
  wishes->binary = words[1];
  wishes->directory = words[2];
  for (int i = 3; i < count; ++i) {
    if (std::strcmp(words[i], "--stop") == 0) {
      wishes->stops = true;
    } else if (i + 1 < count && wishes->numbers.contains(words[i])) {
      wishes->numbers[words[i]] = std::stol(words[i + 1]);
      ++i;
    } else {
      return false;
    }
  }
  return true;
}

class Fuzz {
 public:
  explicit Fuzz(const Wishes& wishes);
  int run();

 private:
  bool start();
  void read_vocabulary();
  bool round(uint64_t number);
  void look_after(uint64_t number);
  void report(uint64_t number, const Finding& finding);
  void check_levels();

  const Wishes& wishes_;
  ServerProcess server_;
  Vocabulary vocabulary_;
  std::vector<Levels> levels_;
  std::set<std::string> known_;
  Counts counts_;
  size_t compared_ = 0;
  int findings_ = 0;
};

std::vector<std::string> flags(long slow) {
  auto milliseconds = [slow](long time) { return std::to_string(time * slow); };
  return {"-c", "statement_timeout=" + milliseconds(1000),
          "-c", "idle_in_transaction_session_timeout=" + milliseconds(3000),
          "-c", "deadlock_timeout=100",
          "-c", "worker_threads=2",
          "-c", "memory_limit=1GB"};
}

Fuzz::Fuzz(const Wishes& wishes)
    : wishes_(wishes),
      server_(wishes.binary, wishes.directory, static_cast<int>(wishes["--port"]),
              flags(wishes["--slow"])) {}

bool Fuzz::start() {
  if (server_.start()) return true;
  std::printf("the server does not start:\n%s\n", server_.last_words().c_str());
  return false;
}

void Fuzz::read_vocabulary() {
  Aftermath session(server_);
  vocabulary_ = Vocabulary::of_server([&](const std::string& sql) { return session.ask(sql); },
                                      PGSILO_SOURCE_DIR);
  std::printf("%zu functions, %zu types, %zu settings, %zu statements to change\n",
              vocabulary_.routines.size(), vocabulary_.types.size(), vocabulary_.settings.size(),
              vocabulary_.corpus.size());
}

void Fuzz::report(uint64_t number, const Finding& finding) {
  std::string words = finding.kind == "died" ? server_.last_words() : "";
  std::string summary = finding.kind + ": " + finding.what;
  if (!known_.insert(summary).second && finding.what.find(" at ") != std::string::npos) return;
  std::string path = wishes_.directory + "/finding-" + std::to_string(++findings_);
  std::ofstream(path) << summary << "\nseed " << wishes_["--seed"] << " round " << number << "\n\n"
                      << finding.details << "\n"
                      << words;
  std::printf("FOUND %s (seed %ld, round %lu): %s\n", path.c_str(), wishes_["--seed"], number,
              summary.substr(0, 300).c_str());
  std::fflush(stdout);
}

void Fuzz::look_after(uint64_t number) {
  Aftermath aftermath(server_);
  for (const std::string& wrong :
       {aftermath.answers(), aftermath.indexes_agree(&compared_), aftermath.drop_everything()}) {
    if (!wrong.empty()) report(number, {"aftermath", wrong, ""});
  }
  levels_.push_back(aftermath.levels());
}

bool Fuzz::round(uint64_t number) {
  RoundSize size{static_cast<size_t>(wishes_["--sessions"]),
                 static_cast<size_t>(wishes_["--batches"])};
  Round written = write_round(static_cast<uint64_t>(wishes_["--seed"]), number, vocabulary_, size);
  if (long only = wishes_["--only"]; only >= 0)
    written.programs = {written.programs[static_cast<size_t>(only)]};
  for (Program& each : written.programs) {
    long count = static_cast<long>(each.batches.size());
    each.batches.resize(static_cast<size_t>(std::min(count, wishes_["--to"])));
    each.batches.erase(each.batches.begin(),
                       each.batches.begin() + std::min(count, wishes_["--from"]));
  }
  RoundRunner runner(server_, written, std::chrono::milliseconds(15000 * wishes_["--slow"]));
  runner.run();
  for (const Finding& each : runner.findings()) report(number, each);
  counts_.batches += runner.counts().batches;
  counts_.errors += runner.counts().errors;
  counts_.cancels_needed += runner.counts().cancels_needed;
  counts_.ends += runner.counts().ends;
  for (const auto& [state, count] : runner.counts().by_state) counts_.by_state[state] += count;
  if (!runner.server_died()) look_after(number);
  if (server_.is_running()) return true;
  levels_.clear();
  if (!runner.server_died()) report(number, {"died", "afterwards, " + server_.ended_as(), ""});
  return start();
}

// What the last rounds left behind against what those in the middle did: caches are full by then.
void Fuzz::check_levels() {
  if (levels_.size() < 60) return;
  auto least = [&](size_t from, size_t to, auto member) {
    auto least = levels_[from].*member;
    for (size_t i = from; i < to; ++i) least = std::min(least, levels_[i].*member);
    return least;
  };
  size_t half = levels_.size() / 2, tail = levels_.size() - levels_.size() / 6;
  long before = least(half, tail, &Levels::used),
       after = least(tail, levels_.size(), &Levels::used);
  if (after > before + before / 5 + (8 << 20))
    report(0,
           {"leak", std::to_string(before) + " bytes in use, then " + std::to_string(after), ""});
  // The log's segments are held open, and become more for a while, as checkpoints have to.
  size_t open = least(half, tail, &Levels::descriptors);
  size_t open_after = least(tail, levels_.size(), &Levels::descriptors);
  if (open_after > open + 8) {
    report(0,
           {"leak", std::to_string(open) + " descriptors, then " + std::to_string(open_after), ""});
  }
}

int Fuzz::run() {
  if (!start()) return 1;
  read_vocabulary();
  auto begin = Clock::now();
  auto until = begin + std::chrono::seconds(wishes_["--seconds"]);
  uint64_t first = static_cast<uint64_t>(wishes_["--first-round"]), number = first;
  auto next_word = begin;
  for (; number < first + static_cast<uint64_t>(wishes_["--rounds"]) && Clock::now() < until;
       ++number) {
    if (!round(number)) return 1;
    if (findings_ > 0 && wishes_.stops) break;
    if (Clock::now() < next_word || levels_.empty()) continue;
    next_word = Clock::now() + std::chrono::seconds(30);
    std::printf(
        "round %lu: %lu batches, %lu errors, %lu sessions ended, %lu cancels needed, %zu indexes "
        "compared; used %ld kB, resident %ld kB, %zu descriptors\n",
        number, counts_.batches, counts_.errors, counts_.ends, counts_.cancels_needed, compared_,
        levels_.back().used / 1024, levels_.back().resident, levels_.back().descriptors);
    std::fflush(stdout);
  }
  check_levels();
  if (!server_.stop()) report(number, {"died", "at its stop: " + server_.ended_as(), ""});
  std::printf("%lu rounds, %lu batches, %lu errors, %zu indexes compared, %d findings\n",
              number - first, counts_.batches, counts_.errors, compared_, findings_);
  for (const auto& [state, count] : counts_.by_state) std::printf(" %s:%lu", state.c_str(), count);
  std::printf("\n");
  return findings_ == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  Wishes wishes;
  if (!read_wishes(count, words, &wishes)) {
    std::fprintf(
        stderr, "usage: session_fuzz PGSILO DIRECTORY [--seconds N] [--rounds N] [--seed N] ...\n");
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  ScratchDirectory directory(wishes.directory);
  wishes.directory = directory.path();
  int status = Fuzz(wishes).run();
  if (status != 0) directory.keep();
  return status;
}
