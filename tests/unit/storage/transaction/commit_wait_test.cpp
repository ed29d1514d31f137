// Who meets a row that a large commit is about to install lets others run meanwhile, and can be
// cancelled (docs/commit_protocol.md, "Beside a large commit").
#include "storage/transaction/commit_wait.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/unit/storage/transaction/snapshot_fixture.h"

namespace pgsilo {
namespace {

using testing::TestSession;
using enum TransactionStatus;

// Its owner's commits wait for nobody but this: the third park calls `release`.
class CountingParker final : public Parker {
 public:
  void park(int64_t) override { ADD_FAILURE() << "waits for something else"; }
  void unpark() override {}
  void park_for_commit(int64_t deadline_us) override {
    lengths_us.push_back(deadline_us - monotonic_us());
    if (lengths_us.size() == 3) release();
  }
  std::vector<int64_t> lengths_us;
  std::function<void()> release;
};

struct Operation {
  const char* name;
  TransactionMode mode;
  LockPurpose purpose;
  TransactionStatus expected;
  std::function<void(TestSession&, Relation&)> before;  // the record is locked
  std::function<TransactionStatus(TestSession&, Relation&)> run;
};

class CommitWaitTest : public SnapshotTest {
 protected:
  static std::vector<Operation> operations();
  void lock(LockPurpose purpose) {
    TidWord seen;
    ASSERT_TRUE(record().tid_word().try_lock(purpose, seen));
  }
  Record& record() { return *relation.tree().get("b").record; }
  void begin(const Operation& operation) {
    if (operation.mode == TransactionMode::snapshot) {
      open();
    } else {
      reader.begin(operation.mode);
    }
    operation.before(reader, relation);
    reader.settings.parker = &parker;
    parker.lengths_us.clear();
    lock(operation.purpose);
  }
  void end() {
    reader.transaction.abort();
    reader.settings.parker = &reader.parker;
  }

  CountingParker parker;
};

std::vector<Operation> CommitWaitTest::operations() {
  using enum TransactionMode;
  constexpr LockPurpose update = LockPurpose::update;
  static constexpr RowRange first_bytes{0, 3};
  auto nothing = [](TestSession&, Relation&) {};
  auto read = [](TestSession& session, Relation& of) { EXPECT_EQ(session.get(of, "b"), ok); };
  auto read_part = [](TestSession& session, Relation& of) {
    EXPECT_EQ(session.get(of, "b"), ok);
    EXPECT_EQ(session.transaction.narrow_read(session.row, {{&first_bytes, 1}}), ok);
  };
  auto get = [](ReadPurpose purpose) {
    return [purpose](TestSession& session, Relation& of) { return session.get(of, "b", purpose); };
  };
  auto scan = [](TestSession& session, Relation& of) {
    TransactionScan cursor(session.transaction, of, {}, ScanDirection::forward, session.buffer);
    TransactionStatus status = cursor.next(&session.row);
    while (status == ok) status = cursor.next(&session.row);
    return status;
  };
  auto validate = [](TestSession& session, Relation&) { return session.transaction.validate(); };
  return {
      {"get", one_shot, update, ok, nothing, get(ReadPurpose::plain)},
      {"scan", one_shot, update, not_found, nothing, scan},
      {"get at a snapshot", snapshot, update, ok, nothing, get(ReadPurpose::plain)},
      {"scan at a snapshot", snapshot, update, not_found, nothing, scan},
      {"existence", one_shot, LockPurpose::remove, ok, nothing, get(ReadPurpose::existence)},
      {"peek", one_shot, update, ok, nothing, get(ReadPurpose::peek)},
      {"get and lock", interactive, update, ok, nothing, get(ReadPurpose::for_update)},
      {"insert", one_shot, update, duplicate_key, nothing,
       [](TestSession& session, Relation& of) { return session.insert(of, "b", "new"); }},
      {"find_duplicate", one_shot, update, duplicate_key, nothing,
       [](TestSession& session, Relation& of) {
         return session.transaction.find_duplicate(of, "b", /*answers=*/true);
       }},
      {"update", interactive, update, ok, read,
       [](TestSession& session, Relation&) {
         return session.transaction.update(session.row, "new");
       }},
      {"lock_row", interactive, update, ok, read,
       [](TestSession& session, Relation&) {
         return session.transaction.lock_row(&session.row, session.buffer);
       }},
      {"validate", one_shot, update, ok, read, validate},
      {"validate a part", one_shot, update, ok, read_part, validate},
  };
}

TEST_F(CommitWaitTest, LetsOthersRunUntilTheRowIsInstalled) {
  for (const Operation& operation : operations()) {
    SCOPED_TRACE(operation.name);
    begin(operation);
    parker.release = [this] { record().tid_word().unlock(); };
    EXPECT_EQ(operation.run(reader, relation), operation.expected);
    EXPECT_EQ(parker.lengths_us.size(), 3u);
    end();
  }
}

TEST_F(CommitWaitTest, CanBeCancelled) {
  for (const Operation& operation : operations()) {
    SCOPED_TRACE(operation.name);
    std::atomic<bool> cancelled = false;
    begin(operation);
    reader.settings.cancelled = &cancelled;
    parker.release = [&] { cancelled = true; };
    EXPECT_EQ(operation.run(reader, relation), TransactionStatus::cancelled);
    record().tid_word().unlock();
    EXPECT_EQ(parker.lengths_us.size(), 3u);
    reader.settings.cancelled = nullptr;
    end();
  }
}

// What a read waited for is what it reads.
TEST_F(CommitWaitTest, ReadsWhatWasInstalled) {
  begin(operations().front());
  Tid tid(engine.epochs.current(), 7);
  parker.release = [&] {
    EXPECT_EQ(record().install("new b", tid, nullptr, /*shrinks=*/false), nullptr);
  };
  EXPECT_EQ(reader.read(relation, "b"), "new b");
  EXPECT_EQ(reader.transaction.validate(), ok);
  end();
}

TEST_F(CommitWaitTest, OpeningASnapshotLetsOthersRun) {
  CommitSlot& slot = writer.worker.slot();
  slot.enter();
  reader.settings.parker = &parker;
  parker.release = [&] { slot.leave(); };
  open();
  EXPECT_EQ(parker.lengths_us.size(), 3u);
  end();
}

// The longer somebody has waited, the longer it may take.
TEST_F(CommitWaitTest, ParksForAShareOfWhatItHasWaited) {
  reader.settings.parker = &parker;
  parker.release = [] {};
  int64_t began_us = monotonic_us();
  for (CommitWait wait(reader.settings); monotonic_us() < began_us + 20'000;)
    EXPECT_EQ(wait.pause(), ok);
  // As the parker sees it, who is told a moment later.
  int64_t longest_us = std::ranges::max(parker.lengths_us);
  EXPECT_GT(longest_us, 500);
  EXPECT_LE(longest_us, 10'000);
  reader.settings.parker = &reader.parker;
}

// Where an exception is handled no fiber can be suspended.
TEST_F(CommitWaitTest, SpinsWhileAnExceptionIsHandled) {
  begin(operations().front());
  std::thread holder([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    record().tid_word().unlock();
  });
  try {
    throw std::runtime_error("");
  } catch (const std::runtime_error&) {
    EXPECT_EQ(reader.read(relation, "b"), "old b");
  }
  EXPECT_TRUE(parker.lengths_us.empty());
  holder.join();
  end();
}

}  // namespace
}  // namespace pgsilo
