// Runs isolation specs (spec.h) at every level and judges every permutation:
// - some serial order must explain it (serial_orders.h), except where the spec says that the level
//   allows an anomaly: there at least one permutation must show it;
// - at READ COMMITTED it must end as recorded of PostgreSQL (recorded_outcomes.h), and nobody may
//   meet 40001.
// Sessions that run one after the other meet 40001 at no level, if they leave each other a breath:
// a row that is deleted is taken out of the tree soon after, which fails whoever looks there just
// then.
// Ours runs REPEATABLE READ as SERIALIZABLE, so only READ COMMITTED may show anomalies.
//
//   isolation_runner CONNINFO FILE.spec...
//   isolation_runner --postgres CONNINFO FILE.spec...   the server is the reference: its promises
//   isolation_runner --record CONNINFO FILE.spec...     write expected/*.out with what it answers
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/isolation/permutation_run.h"
#include "tests/isolation/recorded_outcomes.h"
#include "tests/isolation/serial_orders.h"
#include "tests/isolation/spec.h"

namespace pgsilo::isolation {
namespace {

constexpr int breath_ms = 50;

struct Options {
  bool postgres = false;
  bool record = false;
  std::string conninfo;
  std::vector<std::string> files;
};

void record(const Options& options, const Spec& spec) {
  RecordedOutcomes outcomes(spec);
  Player player(options.conninfo, spec, read_committed);
  for (const Permutation& permutation : spec.permutations) {
    Run run = player.run(permutation);
    if (run.possible && !run.waited) outcomes.add(run);
  }
  outcomes.write();
}

// One spec at one level.
class Trial {
 public:
  Trial(const Options& options, const Spec& spec, const std::string& level)
      : options_(options),
        spec_(spec),
        level_(level),
        may_err_(spec.anomalies.contains(level) && (options.postgres || level == read_committed)),
        player_(options.conninfo, spec, level),
        orders_(options.conninfo, spec, /*all=*/!options.postgres && level != read_committed),
        recorded_(spec) {
    if (level == read_committed) recorded_.read();
  }

  // How much was wrong.
  int run() {
    for (const Permutation& permutation : spec_.permutations)
      judge(player_.run(permutation), permutation);
    if (may_err_ && anomalies_ == 0) complain("no permutation shows the anomaly", {}, {});
    std::printf("%-7s %s, %s: %zu permutations, %zu with waits\n", failures_ == 0 ? "ok" : "FAILED",
                spec_.name.c_str(), level_.c_str(), possible_, waited_);
    return failures_;
  }

 private:
  void judge(const Run& run, const Permutation& permutation) {
    if (!run.possible) return;
    ++possible_;
    if (run.waited) ++waited_;
    if (run.conflict && spec_.one_session_after_another(permutation) &&
        player_.run(permutation, breath_ms).conflict)
      complain("a conflict with nobody", permutation, run);
    if (level_ == read_committed) {
      if (run.conflict) complain("40001", permutation, run);
      if (run.waited && recorded_.has(permutation))
        complain("waits where PostgreSQL does not", permutation, run);
      // What PostgreSQL's own statements see after a wait is of two moments.
      bool comparable = options_.postgres ? !run.waited : !run.deadlock;
      if (comparable && !recorded_.explain(run)) complain("not as recorded", permutation, run);
    }
    if ((may_err_ && anomalies_ > 0) || orders_.explain(run)) return;
    ++anomalies_;
    if (!may_err_) complain("no serial order explains it", permutation, run);
  }

  void complain(const std::string& what, const Permutation& permutation, const Run& run) {
    ++failures_;
    std::printf("%s, %s: %s: %s\n  %s | %s\n", spec_.name.c_str(), level_.c_str(), what.c_str(),
                spec_.text(permutation).c_str(), run.events.c_str(), run.state.c_str());
  }

  const Options& options_;
  const Spec& spec_;
  const std::string level_;
  const bool may_err_;
  Player player_;
  SerialOrders orders_;
  RecordedOutcomes recorded_;
  size_t possible_ = 0;
  size_t waited_ = 0;
  size_t anomalies_ = 0;
  int failures_ = 0;
};

int run(const Options& options) {
  int failures = 0;
  for (const std::string& file : options.files) {
    Spec spec = read_spec(file);
    if (options.record) {
      record(options, spec);
      continue;
    }
    for (const std::string& level : spec.levels) failures += Trial(options, spec, level).run();
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace pgsilo::isolation

int main(int argc, char** argv) {
  pgsilo::isolation::Options options;
  std::vector<std::string> arguments(argv + 1, argv + argc);
  size_t at = 0;
  for (; at < arguments.size() && arguments[at].starts_with("--"); ++at) {
    options.postgres |= arguments[at] == "--postgres";
    options.record |= arguments[at] == "--record";
  }
  if (at + 1 >= arguments.size()) {
    std::fputs("usage: isolation_runner [--postgres | --record] CONNINFO FILE.spec...\n", stderr);
    return 2;
  }
  options.conninfo = arguments[at];
  options.files.assign(arguments.begin() + static_cast<ptrdiff_t>(at) + 1, arguments.end());
  try {
    return pgsilo::isolation::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "isolation_runner: %s\n", error.what());
    return 1;
  }
}
