// Random transactions on a simulated disk that loses power at a random step, again and again,
// recovery included (D1 to D3, docs/invariants.md). After each restart the content must be what
// some prefix of the committed transactions leaves, cut at an epoch's end, with everything
// acknowledged in it. PGSILO_POWER_CUTS sets the number of cuts (200); PGSILO_SEED the first seed.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file_simulated.h"
#include "base/random.h"
#include "storage/relation/system_relations.h"
#include "tests/crash/logged_engine.h"
#include "tests/crash/verified.h"
#include "wal/checkpoint/checkpointer.h"

namespace pgsilo {
namespace {

struct Committed {
  std::vector<WriteOperation> operations;
  Epoch epoch;
};

struct CampaignOptions {
  unsigned logs = 1;
  bool direct = true;
  bool long_logs = false;  // of rows of users' relations, seldom checkpoints
  bool kill =
      false;  // the process dies, not the power; now and then the power fails right afterwards
  bool syncs_lie = false;  // a build that forgets to sync
  bool reply_before_durable = false;
};

class Campaign {
 public:
  Campaign(uint64_t seed, CampaignOptions options)
      : options_(options), random_(seed), files_(seed ^ 0x5eed) {
    files_.refuse_direct(!options.direct);
    files_.set_syncs_lie(options.syncs_lie);
  }

  // One run of the database after the other, each ended by a cut. Empty, or what went wrong.
  std::string run(unsigned cuts) {
    for (unsigned cut = 0; cut < cuts; ++cut) {
      arm();
      std::string fault = life();
      if (!fault.empty()) return fault + " (life " + std::to_string(cut) + ")";
      files_.restart();
      // No cut leaves what pgsilo-verify takes for damage. Not each time, for it syncs as a start
      // does.
      if (options_.syncs_lie || !random_.one_in(4)) continue;
      Verified verified = verify(files_, {});
      if (verified.verdict == Verdict::damaged) return "called damaged: " + verified.why;
    }
    return "";
  }
  uint64_t transactions() const { return transactions_; }
  uint64_t lost() const { return lost_; }
  uint64_t checkpoints() const { return checkpoints_; }
  uint64_t bytes_saved() const { return bytes_saved_; }
  uint64_t trusted_segments() const { return trusted_segments_; }

 private:
  void arm() {
    // Often early, so that initialisation and recovery are hit too.
    uint64_t late = options_.long_logs ? 1000 : 160;
    uint64_t step = files_.steps() + 1 +
                    random_.below(random_.one_in(3)   ? 25
                                  : random_.one_in(3) ? 500
                                                      : late);
    if (options_.kill) {
      files_.kill_at(step);
    } else {
      files_.cut_power_at(step);
    }
  }

  std::string life() {
    WalOptions wal = LoggedEngine::small_options();
    wal.workers = 3;
    wal.sync_method =
        options_.direct || random_.one_in(2) ? LogSyncMethod::direct : LogSyncMethod::fdatasync;
    wal.compress = random_.one_in(2);
    wal.log_directories = LoggedEngine::log_directories(options_.logs);
    if (random_.one_in(2)) wal.checkpoint_directories = {"checkpoint", "more"};
    wal.compress_checkpoints = random_.one_in(2);
    wal.checkpoint_threads = 1 + static_cast<unsigned>(random_.below(3));
    std::string fault;
    working_ = false;
    LoggedEngine engine(files_, "/data", wal);
    try {
      if (!engine.start()) return "refused to start: " + engine.why();
      trusted_segments_ += engine.recovered().trusted_segments;
      if (options_.kill && random_.one_in(2)) {
        fault = check_recovered(engine);
        if (fault.empty()) files_.cut_power();
        return fault;
      }
      fault = check_recovered(engine);
      if (fault.empty()) work(engine);
      if (fault.empty() && random_.one_in(3)) engine.wal().stop();
      if (fault.empty()) files_.cut_power();
    } catch (const SimulatedPowerCut&) {
    }
    // What the cut step still made durable counts: a client may have heard of it.
    if (working_) {
      note_acknowledged(engine);
      bytes_saved_ += engine.wal().status().bytes_saved;
    }
    return fault;
  }

  // The committed transactions that the recovered content shows; the others are gone for ever.
  std::string check_recovered(LoggedEngine& engine) {
    Content found = engine.content();
    Content expected = base_;
    size_t matches = SIZE_MAX;
    for (size_t count = 0;; ++count) {
      bool at_epoch_end = count == 0 || count == history_.size() ||
                          history_[count - 1].epoch != history_[count].epoch;
      if (count >= acknowledged_ && at_epoch_end && expected == found) matches = count;
      if (count == history_.size()) break;
      apply_writes(expected, history_[count].operations);
    }
    if (matches == SIZE_MAX) {
      return "the recovered content is no prefix that holds all " + std::to_string(acknowledged_) +
             " acknowledged of " + std::to_string(history_.size()) + " transactions";
    }
    lost_ += history_.size() - matches;
    base_ = std::move(found);
    history_.clear();
    acknowledged_ = 0;
    return "";
  }

  void work(LoggedEngine& engine) {
    working_ = true;
    // Now and then whole ones, one after the other.
    checkpoint_rarity_ = random_.one_in(4) ? 1 : options_.long_logs ? 200 : 4;
    for (;;) {
      unsigned worker = static_cast<unsigned>(random_.below(engine.wal().workers()));
      std::vector<WriteOperation> operations = random_operations();
      // The history first: the commit may be durable before a cut lets us know.
      std::optional<Epoch> epoch = engine.commit(worker, operations);
      ASSERT_TRUE(epoch.has_value()) << static_cast<int>(engine.status());
      // A transaction that changed nothing belongs to the epoch before.
      if (!history_.empty()) epoch = std::max(*epoch, history_.back().epoch);
      history_.push_back({std::move(operations), *epoch});
      ++transactions_;
      if (random_.one_in(3)) engine.step(worker, history_[random_.below(history_.size())].epoch);
      if (random_.one_in(3)) engine.step(worker, *epoch);
      if (random_.one_in(8)) engine.wal().prepare_segments();
      if (random_.one_in(5)) engine.epochs().advance();
      if (random_.one_in(checkpoint_rarity_) && engine.wal().checkpointer().step()) ++checkpoints_;
      note_acknowledged(engine);
      if (random_.one_in(300)) return;
    }
  }

  void note_acknowledged(LoggedEngine& engine) {
    if (history_.empty()) return;
    if (options_.reply_before_durable) {
      acknowledged_ = history_.size();
      return;
    }
    Epoch durable = engine.wal().durable_epoch();
    while (acknowledged_ < history_.size() && history_[acknowledged_].epoch <= durable)
      ++acknowledged_;
  }

  std::vector<WriteOperation> random_operations() {
    std::vector<WriteOperation> operations;
    size_t count = 1 + random_.below(random_.one_in(10) ? 40 : 4);
    for (size_t i = 0; i < count; ++i) {
      uint32_t first = options_.long_logs ? first_user_relation.value() : 1;
      WriteOperation operation{.relation = first + static_cast<uint32_t>(random_.below(3)),
                               .key = "key" + std::to_string(random_.below(60)),
                               .row = std::nullopt};
      if (!random_.one_in(3)) {
        size_t bytes = random_.below(200);
        if (random_.one_in(options_.long_logs ? 2 : 60)) bytes = random_.below(40'000);
        if (random_.one_in(400)) bytes = random_.below(200'000);
        std::string row = std::to_string(transactions_) + ":" + std::to_string(i) + ":";
        if (random_.one_in(3)) {  // what compression does nothing for
          for (size_t at = 0; at < bytes; ++at) row += static_cast<char>(random_.next());
        } else {
          row.append(bytes, static_cast<char>('a' + random_.below(26)));
        }
        operation.row = std::move(row);
      }
      // One write per key: the next one of the same key would be a later command on the same row.
      std::erase_if(operations, [&](const WriteOperation& earlier) {
        return earlier.relation == operation.relation && earlier.key == operation.key;
      });
      operations.push_back(std::move(operation));
    }
    return operations;
  }

  const CampaignOptions options_;
  Random random_;
  SimulatedFileSystem files_;
  Content base_;                    // as last recovered
  std::vector<Committed> history_;  // since then
  size_t acknowledged_ = 0;
  unsigned checkpoint_rarity_ = 3;
  uint64_t checkpoints_ = 0;
  uint64_t bytes_saved_ = 0;       // by compression
  uint64_t trusted_segments_ = 0;  // by recoveries
  bool working_ = false;           // this life has checked what was recovered and commits
  uint64_t transactions_ = 0;
  uint64_t lost_ = 0;
};

uint64_t setting(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

constexpr unsigned lives_per_database = 8;

void run_campaign(CampaignOptions options, uint64_t share) {
  uint64_t databases =
      std::max<uint64_t>(1, setting("PGSILO_POWER_CUTS", 200) / lives_per_database / share);
  uint64_t seed = setting("PGSILO_SEED", 1);
  uint64_t transactions = 0, lost = 0, checkpoints = 0, bytes_saved = 0, trusted = 0;
  for (uint64_t i = 0; i < databases; ++i) {
    Campaign campaign(seed + i, options);
    std::string fault = campaign.run(lives_per_database);
    ASSERT_EQ(fault, "") << "PGSILO_SEED=" << seed + i;
    transactions += campaign.transactions();
    lost += campaign.lost();
    checkpoints += campaign.checkpoints();
    bytes_saved += campaign.bytes_saved();
    trusted += campaign.trusted_segments();
  }
  // Else the campaign shows nothing.
  EXPECT_GT(transactions, databases);
  EXPECT_GT(lost, 0u);
  EXPECT_GT(checkpoints, 0u);
  EXPECT_GT(bytes_saved, 0u);
  EXPECT_EQ(trusted > 0, options.long_logs);
}

TEST(PowerCut, OneLog) { run_campaign({}, 4); }
TEST(PowerCut, OneLogThroughThePageCache) { run_campaign({.direct = false}, 4); }
TEST(PowerCut, ThreeLogs) { run_campaign({.logs = 3}, 4); }
TEST(PowerCut, LongLogs) { run_campaign({.logs = 2, .long_logs = true}, 4); }
TEST(PowerCut, ProcessKilledAndThenThePower) { run_campaign({.direct = false, .kill = true}, 4); }

// The campaign notices what it is there for.
bool campaign_notices(CampaignOptions options) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    if (!Campaign(seed, options).run(lives_per_database).empty()) return true;
  }
  return false;
}

TEST(PowerCut, NoticesAMissingSync) { EXPECT_TRUE(campaign_notices({.syncs_lie = true})); }
TEST(PowerCut, NoticesAReplyBeforeDurability) {
  EXPECT_TRUE(campaign_notices({.reply_before_durable = true}));
}

}  // namespace
}  // namespace pgsilo
