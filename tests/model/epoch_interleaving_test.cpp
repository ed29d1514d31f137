// The two clocks under every schedule with a bounded number of preemptions: commits against those
// who ask which epochs are complete (epoch_manager.h), pins against those who free (reclaimer.h).
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/epoch/epoch_manager.h"
#include "storage/epoch/reclaimer.h"
#include "storage/record/tid_word.h"
#include "tests/model/interleaver.h"

namespace pgsilo {
namespace {

int preemptions(int ordinary) {
  const char* wanted = std::getenv("PGSILO_PREEMPTIONS");
  return wanted != nullptr ? std::atoi(wanted) : ordinary;
}

// Threads 0 and 1 commit, each over the record that the other reads; thread 2 is the logger.
class EpochProgram : public Interleaver::Program {
 public:
  explicit EpochProgram(int committers) : committers_(committers) {
    for (int i = 0; i < committers; ++i) {
      slots_.push_back(std::make_unique<CommitSlot>(epochs_));
      records_.push_back(std::make_unique<AtomicTidWord>(TidWord::present(Tid())));
    }
  }

  void run_thread(int index) override {
    if (index == committers_) return look();
    for (int round = 0; round < 2; ++round) commit(index);
  }

  std::string verdict() override {
    if (!wrong_.empty()) return wrong_;
    // A commit of a later epoch sees the locks of the earlier ones, or what they have left.
    for (const Commit& later : commits_) {
      for (const Commit& earlier : commits_) {
        if (earlier.committer == later.committer || earlier.epoch >= later.epoch) continue;
        if (!later.seen.is_locked() && later.seen.tid() < earlier.tid)
          return "the lock of a commit of an earlier epoch was not seen";
      }
    }
    return "";
  }

 private:
  struct Commit {
    int committer;
    Epoch epoch;
    TidWord seen = {};  // of the other's record
    Tid tid = {};
    bool handed_over = false;
  };

  void commit(int index) {
    CommitSlot& slot = *slots_[index];
    AtomicTidWord& own = *records_[index];
    slot.enter();
    TidWord before;
    if (!own.try_lock(LockPurpose::update, before)) wrong_ = "its own record was locked";
    Epoch epoch = slot.serialization_epoch();
    if (epoch <= told_) wrong_ = "a commit in an epoch that was complete";
    size_t entry = commits_.size();
    commits_.push_back({index, epoch});
    commits_[entry].seen = records_[(index + 1) % committers_]->load_for_validation();
    commits_[entry].tid = *Tid::following(before.tid(), epoch);
    own.install(commits_[entry].tid, /*absent=*/false);
    commits_[entry].handed_over = true;
    slot.leave();
  }

  void look() {
    for (int round = 0; round < 2; ++round) {
      epochs_.advance();
      Epoch complete = epochs_.completed();
      for (const Commit& commit : commits_) {
        if (commit.epoch <= complete && !commit.handed_over)
          wrong_ = "an epoch was complete before its commits had left";
      }
      if (complete < told_) wrong_ = "what was complete is not any more";
      told_ = complete;
    }
  }

  const int committers_;
  EpochManager epochs_{Epoch(1)};
  std::vector<std::unique_ptr<CommitSlot>> slots_;
  std::vector<std::unique_ptr<AtomicTidWord>> records_;
  std::vector<Commit> commits_;
  Epoch told_;
  std::string wrong_;
};

TEST(EpochInterleavingTest, ACompleteEpochStaysComplete) {
  for (int committers : {1, 2}) {
    Interleaver interleaver(committers + 1, preemptions(3),
                            [=] { return new EpochProgram(committers); });
    EXPECT_EQ(interleaver.explore(), "");
    EXPECT_GT(interleaver.runs(), 1000u);
    RecordProperty("runs", static_cast<int>(interleaver.runs()));
  }
}

// Thread 0 replaces what the others read, and frees what they cannot reach any more.
class ReclaimProgram : public Interleaver::Program {
 public:
  explicit ReclaimProgram(int readers) {
    for (int i = 0; i <= readers; ++i)
      handles_.push_back(std::make_unique<ReclaimerHandle>(reclaimer_));
    shared_ = &objects_[0];
  }

  void run_thread(int index) override {
    ReclaimerHandle& handle = *handles_[index];
    if (index == 0) return replace(handle);
    for (int round = 0; round < 2; ++round) {
      std::optional<Pin> first(std::in_place, handle);
      Object* seen = shared_.load();
      // Another transaction of the same worker, which ends later.
      Pin second(handle);
      Object* later = shared_.load();
      read(seen);
      first.reset();
      read(later);
    }
  }

  std::string verdict() override { return wrong_; }

 private:
  struct Object {
    bool freed = false;
  };

  void replace(ReclaimerHandle& handle) {
    for (size_t i = 1; i < std::size(objects_); ++i) {
      Object* old = shared_.exchange(&objects_[i]);
      handle.retire(old, [](void* object) { static_cast<Object*>(object)->freed = true; }, 1);
      handle.reclaim();
      handle.reclaim();
    }
  }
  void read(const Object* object) {
    schedule_point(false);
    if (object->freed) wrong_ = "read what was freed";
  }

  Object objects_[3];
  Reclaimer reclaimer_;
  std::vector<std::unique_ptr<ReclaimerHandle>> handles_;
  std::atomic<Object*> shared_ = nullptr;
  std::string wrong_;
};

TEST(ReclaimerInterleavingTest, NobodyReadsWhatWasFreed) {
  for (int readers : {1, 2}) {
    Interleaver interleaver(readers + 1, preemptions(readers == 1 ? 4 : 2),
                            [=] { return new ReclaimProgram(readers); });
    EXPECT_EQ(interleaver.explore(), "");
    EXPECT_GT(interleaver.runs(), 1000u);
    RecordProperty("runs", static_cast<int>(interleaver.runs()));
  }
}

// Threads 0 and 1 retire something, each under a pin; all threads sleep when they need not hurry.
// Nobody wakes anybody: when all sleep, nothing is left.
class SleepProgram : public Interleaver::Program {
 public:
  explicit SleepProgram(int threads) {
    for (int i = 0; i < threads; ++i)
      handles_.push_back(std::make_unique<ReclaimerHandle>(reclaimer_));
  }

  void run_thread(int index) override {
    ReclaimerHandle& handle = *handles_[index];
    {
      Pin pin(handle);
      if (index < 2)
        handle.retire(&freed_[index], [](void* freed) { *static_cast<bool*>(freed) = true; }, 1);
      handle.reclaim();  // of another session of the same worker
    }
    for (handle.reclaim(); handle.hurries(); handle.reclaim()) schedule_point(true);
  }

  std::string verdict() override {
    return freed_[0] && freed_[1] ? "" : "all sleep, and something is left";
  }

 private:
  bool freed_[2] = {};
  Reclaimer reclaimer_;
  std::vector<std::unique_ptr<ReclaimerHandle>> handles_;
};

TEST(ReclaimerInterleavingTest, NothingIsLeftWhenAllSleep) {
  for (int threads : {2, 3}) {
    Interleaver interleaver(threads, preemptions(threads == 2 ? 3 : 2),
                            [=] { return new SleepProgram(threads); });
    EXPECT_EQ(interleaver.explore(), "");
    EXPECT_GT(interleaver.runs(), 1000u);
    RecordProperty("runs", static_cast<int>(interleaver.runs()));
  }
}

}  // namespace
}  // namespace pgsilo
