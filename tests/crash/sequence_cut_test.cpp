// A sequence on a simulated disk that loses power at a random step, again and again, recovery
// included (docs/sequences.md, S1 and S2): no value that was told to anybody comes a second time.
// PGSILO_POWER_CUTS sets the number of cuts (200); PGSILO_SEED the first seed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "base/file_simulated.h"
#include "base/random.h"
#include "catalog/catalog.h"
#include "catalog/sequence/sequence_state.h"
#include "storage/relation/relation.h"
#include "tests/crash/logged_engine.h"

namespace pgsilo {
namespace {

class SequenceCampaign {
 public:
  SequenceCampaign(uint64_t seed, bool reply_before_durable)
      : reply_before_durable_(reply_before_durable), random_(seed), files_(seed ^ 0x5eed) {
    files_.refuse_direct(false);
    definition_.cache = random_.one_in(2) ? 1 : 5;
  }

  // One run of the database after the other, each ended by a cut. Empty, or what went wrong.
  std::string run(unsigned cuts) {
    for (unsigned cut = 0; cut < cuts; ++cut) {
      files_.cut_power_at(files_.steps() + 1 + random_.below(random_.one_in(3) ? 25 : 160));
      std::string fault = life();
      if (!fault.empty()) return fault + " (life " + std::to_string(cut) + ")";
      files_.restart();
    }
    return "";
  }
  size_t told() const { return told_.size(); }
  uint64_t lost() const { return lost_; }

 private:
  struct Grant {
    SequenceGrant values;
    bool is_told = false;
  };
  static constexpr RelationId sequence_relation{20000};

  std::string life() {
    WalOptions wal = LoggedEngine::small_options();
    wal.workers = 3;
    grants_.clear();
    LoggedEngine engine(files_, "/data", wal);
    std::string fault;
    try {
      if (!engine.start()) return "refused to start: " + engine.why();
      fault = work(engine);
      if (fault.empty()) files_.cut_power();
    } catch (const SimulatedPowerCut&) {
    }
    // What the cut step still made durable counts: a client may have heard of it.
    if (!grants_.empty()) note_told(engine);
    for (const Grant& grant : grants_) lost_ += !grant.is_told;
    return fault;
  }

  // As the catalog's loader finds it; the first time, made by a transaction.
  SequencePosition recovered_position(const Content& content) {
    for (const auto& [key, row] : content) {
      if (RelationId(key.first) == Catalog::sequence_states)
        return SequenceState::position_of_row(row);
    }
    return {definition_.start, 0, false};
  }

  std::string work(LoggedEngine& engine) {
    RelationDirectory& relations = engine.relations();
    Relation& states = relations.get_or_create(Catalog::sequence_states, RelationOptions{});
    Relation& sequence = relations.get_or_create(sequence_relation, RelationOptions{});
    Content content = engine.content();
    SequenceState state(sequence, states, recovered_position(content),
                        engine.recovered().durable_epoch);
    if (content.empty()) {
      if (!told_.empty()) return "the sequence is gone";
      Transaction creator(engine.worker(0), engine.waits());
      creator.begin(TransactionMode::one_shot);
      if (creator.begin_statement() != TransactionStatus::ok ||
          state.insert_row(creator) != TransactionStatus::ok ||
          creator.commit() != TransactionStatus::ok) {
        return "the sequence cannot be made";
      }
      state.created_in(creator.newest_epoch());
    }
    for (;;) {
      unsigned worker = static_cast<unsigned>(random_.below(engine.wal().workers()));
      std::string fault = take(engine, worker, state);
      if (!fault.empty()) return fault;
      Epoch epoch = grants_[random_.below(grants_.size())].values.epoch;
      if (random_.one_in(3)) engine.step(worker, epoch);
      if (random_.one_in(3)) engine.step(worker, grants_.back().values.epoch);
      if (random_.one_in(8)) engine.wal().prepare_segments();
      if (random_.one_in(5)) engine.epochs().advance();
      note_told(engine);
      if (random_.one_in(2000)) return "";
    }
  }

  // nextval() in a transaction that comes to something, or not.
  std::string take(LoggedEngine& engine, unsigned worker, SequenceState& state) {
    Transaction user(engine.worker(worker), engine.waits());
    Transaction scribe(engine.worker(worker), engine.waits());
    user.begin(TransactionMode::one_shot);
    Grant grant;
    if (user.begin_statement() != TransactionStatus::ok ||
        state.take(user, scribe, definition_, &grant.values) != TransactionStatus::ok) {
      return "nextval() fails";
    }
    for (int64_t value = grant.values.first; value <= grant.values.last; ++value) {
      if (told_.contains(value)) return "value " + std::to_string(value) + " comes again";
    }
    grants_.push_back(grant);
    if (random_.one_in(4)) {
      user.abort();
    } else if (user.commit() != TransactionStatus::ok) {
      return "a transaction without writes cannot commit";
    }
    return "";
  }

  void note_told(LoggedEngine& engine) {
    Epoch durable = engine.wal().durable_epoch();
    for (Grant& grant : grants_) {
      if (grant.is_told || (!reply_before_durable_ && grant.values.epoch > durable)) continue;
      grant.is_told = true;
      for (int64_t value = grant.values.first; value <= grant.values.last; ++value)
        told_.insert(value);
    }
  }

  const bool reply_before_durable_;
  Random random_;
  SimulatedFileSystem files_;
  SequenceDefinition definition_;
  std::vector<Grant> grants_;  // of this life
  std::set<int64_t> told_;     // of all lives
  uint64_t lost_ = 0;          // grants nobody heard of
};

uint64_t setting(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

constexpr unsigned lives_per_database = 8;

TEST(SequencePowerCut, NoValueIsToldTwice) {
  uint64_t databases =
      std::max<uint64_t>(1, setting("PGSILO_POWER_CUTS", 200) / lives_per_database);
  uint64_t seed = setting("PGSILO_SEED", 1);
  uint64_t told = 0, lost = 0;
  for (uint64_t i = 0; i < databases; ++i) {
    SequenceCampaign campaign(seed + i, /*reply_before_durable=*/false);
    ASSERT_EQ(campaign.run(lives_per_database), "") << "PGSILO_SEED=" << seed + i;
    told += campaign.told();
    lost += campaign.lost();
  }
  // Else the campaign shows nothing.
  EXPECT_GT(told, databases);
  EXPECT_GT(lost, 0u);
}

TEST(SequencePowerCut, NoticesAReplyBeforeDurability) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    if (!SequenceCampaign(seed, /*reply_before_durable=*/true).run(lives_per_database).empty())
      return;
  }
  FAIL() << "nothing was noticed";
}

}  // namespace
}  // namespace pgsilo
