// Random damage to the files of a log: a start refuses it with a reason or finds a prefix of what
// was committed, cut at an epoch's end. Never anything else, and with recovery_accept_data_loss
// always the latter. pgsilo-verify says before what the start will do, in its words. PGSILO_FUZZ
// sets the number of rounds (150).
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file_simulated.h"
#include "base/random.h"
#include "tests/crash/logged_engine.h"
#include "tests/crash/verified.h"
#include "wal/layout/log_format.h"
#include "wal/tool/log_dump.h"

namespace pgsilo {
namespace {

class FuzzedLog {
 public:
  explicit FuzzedLog(uint64_t seed) : random_(seed), disk_(seed) {
    options_.workers = 2;
    options_.log_directories = {"wal0", "wal1"};
  }

  void write() {
    prefixes_.push_back({});
    for (int life = 0; life < 2; ++life) {
      options_.compress = random_.one_in(2);
      LoggedEngine engine(disk_, "/data", options_);
      ASSERT_TRUE(engine.start()) << engine.why();
      Epoch last;
      Content content = prefixes_.back();
      for (int i = 0; i < 25; ++i) {
        WriteOperation operation{1, "key" + std::to_string(random_.below(12)), std::nullopt};
        if (!random_.one_in(4))
          operation.row = std::string(random_.below(random_.one_in(9) ? 90'000 : 3000), 'r') +
                          std::to_string(i);
        unsigned worker = static_cast<unsigned>(random_.below(2));
        std::optional<Epoch> epoch = engine.commit(worker, {operation});
        ASSERT_TRUE(epoch.has_value());
        // A delete of nothing commits nothing: it belongs to the epoch before.
        if (*epoch <= last) prefixes_.pop_back();
        last = std::max(last, *epoch);
        apply_writes(content, {operation});
        prefixes_.push_back(content);
        if (random_.one_in(2)) engine.wal().wait_durable(worker, *epoch);
        engine.wal().prepare_segments();
      }
      engine.wal().wait_durable(0, last);
      disk_.cut_power();
      disk_.restart();
    }
  }

  void damage() {
    uint64_t times = 1 + random_.below(4);
    for (uint64_t i = 0; i < times; ++i) {
      std::string path =
          "/data/wal" + std::to_string(random_.below(2)) + "/" + segment_name(1 + random_.below(4));
      std::string content = disk_.content(path);
      if (content.empty()) continue;
      // Most often where something is.
      size_t used = content.find_last_not_of('\0') + 1;
      uint64_t at = random_.below(random_.one_in(5) || used == 0 ? content.size() : used);
      uint64_t bytes = 1 + random_.below(std::min<uint64_t>(content.size() - at,
                                                            random_.one_in(2) ? 3 : 20'000));
      switch (random_.below(4)) {
        case 0:
          disk_.corrupt(path, at, std::string(bytes, '\0'));
          break;
        case 1:
          disk_.corrupt(path, at, std::string(bytes, static_cast<char>(random_.next())));
          break;
        case 2:
          disk_.corrupt(path, at, content.substr(random_.below(content.size() - bytes + 1), bytes));
          break;
        default: {
          uint64_t block = at / log_format::block_unit * log_format::block_unit;
          uint64_t other =
              random_.below(content.size() / log_format::block_unit) * log_format::block_unit;
          disk_.corrupt(path, block, content.substr(other, log_format::block_unit));
        }
      }
    }
  }

  // 1: started on a prefix, 0: refused, -1: neither.
  int start(bool accept) {
    WalOptions options = options_;
    options.accept_data_loss = accept;
    Verified verified = verify(disk_, options.log_directories);
    LoggedEngine engine(disk_, "/data", options);
    bool started = engine.start();
    why_ = engine.why();
    if (!accept) {
      EXPECT_EQ(verified.verdict, started ? Verdict::sound : Verdict::damaged);
      EXPECT_EQ(verified.why, why_);
    }
    int outcome = 0;
    if (started) {
      Content content = engine.content();
      outcome = std::find(prefixes_.begin(), prefixes_.end(), content) == prefixes_.end() ? -1 : 1;
    } else if (why_.empty()) {
      outcome = -1;
    }
    disk_.cut_power();
    disk_.restart();
    return outcome;
  }

  // pgsilo-dump-log goes over everything; whether it names a damaged place.
  bool dump() {
    std::FILE* out = std::fopen("/dev/null", "w");
    LogDump dump(disk_, {.blocks = true}, out);
    for (const char* log : {"/data/wal0/", "/data/wal1/"}) {
      for (uint64_t number = 1; !disk_.content(log + segment_name(number)).empty(); ++number)
        EXPECT_TRUE(dump.dump_file(log + segment_name(number)).ok());
    }
    dump.finish();
    std::fclose(out);
    return dump.damaged_places() != 0;
  }

  const std::string& why() const { return why_; }

 private:
  Random random_;
  SimulatedFileSystem disk_;
  WalOptions options_ = LoggedEngine::small_options();
  std::vector<Content> prefixes_;
  std::string why_;
};

TEST(LogFuzz, DamageIsRefusedOrCostsOnlyTheEnd) {
  const char* setting = std::getenv("PGSILO_FUZZ");
  int rounds = setting == nullptr ? 150 : std::atoi(setting);
  int started = 0, refused = 0, named = 0;
  for (int seed = 1; seed <= rounds; ++seed) {
    FuzzedLog log(static_cast<uint64_t>(seed));
    ASSERT_NO_FATAL_FAILURE(log.write());
    ASSERT_FALSE(log.dump());
    log.damage();
    bool damaged = log.dump();
    int outcome = log.start(false);
    ASSERT_NE(outcome, -1) << "seed " << seed << ": " << log.why();
    ++(outcome == 1 ? started : refused);
    named += damaged ? 1 : 0;
    ASSERT_EQ(log.start(true), 1) << "seed " << seed << ": " << log.why();
    ASSERT_EQ(log.start(false), 1) << "seed " << seed << ": " << log.why();
  }
  EXPECT_GT(started, rounds / 20);
  EXPECT_GT(refused, rounds / 20);
  EXPECT_GT(named, rounds / 20);
}

}  // namespace
}  // namespace pgsilo
