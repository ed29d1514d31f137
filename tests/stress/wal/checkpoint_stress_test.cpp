// Checkpoints one after the other beside workers that change rows, load private relations and make
// the log go round; then the process is gone without a word, and what was durable must be there:
// recovered content equals the trees as they were. Runs under ThreadSanitizer too.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

#include "base/arena.h"
#include "base/random.h"
#include "storage/record/row_buffer.h"
#include "tests/stress/wal/threaded_database.h"
#include "wal/checkpoint/checkpointer.h"
#include "wal/recovery/scrubber.h"

namespace pgsilo {
namespace {

using Content = std::map<std::pair<uint32_t, std::string>, std::string>;

constexpr unsigned workers = 3;
constexpr unsigned shared_relations = 3;
constexpr uint64_t keys = 2000;

Content content_of(ThreadedDatabase& database) {
  Content content;
  ReclaimerHandle handle(database.reclaimer);
  Pin pin(handle);
  Arena arena;
  for (Relation* relation : database.relations.list()) {
    relation->tree().for_each([&](Record* record) {
      arena.reset();
      RowBuffer buffer(arena);
      if (record->stable_read(buffer).is_absent()) return;
      content[{relation->id().value(), std::string(record->key())}] = std::string(buffer.bytes());
    });
  }
  return content;
}

class Writer {
 public:
  Writer(ThreadedDatabase& database, unsigned index, uint64_t seed)
      : database_(database),
        worker_(database.parts(), database.wal->worker_log(index)),
        random_(seed),
        index_(index) {
    settings_.parker = &parker_;
  }

  void run(const std::atomic<bool>& stop) {
    database_.wal->set_listener(index_, &parker_);
    while (!stop.load(std::memory_order_relaxed)) {
      if (random_.one_in(300)) {
        load_private();
      } else {
        change_rows();
      }
      worker_.housekeep();
    }
    database_.wal->set_listener(index_, nullptr);
  }

 private:
  void change_rows() {
    Transaction transaction(worker_, settings_);
    transaction.begin(TransactionMode::one_shot);
    TransactionStatus status = TransactionStatus::ok;
    for (uint64_t i = 0, count = 1 + random_.below(5); i < count; ++i) {
      if (status == TransactionStatus::ok) status = transaction.begin_statement();
      if (status == TransactionStatus::ok) status = change_row(transaction);
    }
    if (status == TransactionStatus::ok) {
      static_cast<void>(transaction.commit());  // a conflict is as good
    } else {
      transaction.abort();
    }
  }

  TransactionStatus change_row(Transaction& transaction) {
    Relation& relation = database_.relations.get_or_create(
        RelationId(static_cast<uint32_t>(1 + random_.below(shared_relations))), {});
    arena_.reset();
    RowBuffer buffer(arena_);
    RowRef row;
    std::string key = "some longer prefix " + std::to_string(random_.below(keys));
    std::string value(random_.below(random_.one_in(100) ? 20'000 : 120), 'v');
    value += std::to_string(random_.below(1'000'000));
    TransactionStatus status = transaction.get(relation, key, buffer, &row);
    if (status == TransactionStatus::not_found) return transaction.insert(relation, key, value);
    if (status != TransactionStatus::ok) return status;
    return random_.one_in(3) ? transaction.remove(row) : transaction.update(row, value);
  }

  // Streams its rows to the log long before it commits.
  void load_private() {
    Transaction transaction(worker_, settings_);
    transaction.begin(TransactionMode::interactive);
    ASSERT_EQ(transaction.begin_statement(), TransactionStatus::ok);
    Relation* relation = transaction.create_relation({});
    ASSERT_NE(relation, nullptr);
    for (int i = 0; i < 2000; ++i) {
      ASSERT_EQ(transaction.insert(*relation, std::to_string(i), std::string(60, 'p')),
                TransactionStatus::ok);
    }
    ASSERT_EQ(transaction.commit(), TransactionStatus::ok);
  }

  ThreadedDatabase& database_;
  WorkerContext worker_;
  DurableParker parker_;
  WaitSettings settings_;
  Random random_;
  Arena arena_;
  const unsigned index_;
};

void make_checkpoints(ThreadedDatabase& database, const std::atomic<bool>& stop,
                      std::atomic<int>& made) {
  DurableParker parker;
  while (!stop.load(std::memory_order_relaxed)) {
    CheckpointRequest request(database.wal->checkpointer(), parker);
    std::string why;
    while (request.outcome(&why) == CheckpointOutcome::pending) parker.park(Parker::no_deadline);
    ASSERT_EQ(request.outcome(&why), CheckpointOutcome::done) << why;
    ++made;
  }
}

// What is told of them meanwhile: numbers ascend, only the last may be running, progress is never
// taken back.
void watch_checkpoints(ThreadedDatabase& database, const std::atomic<bool>& stop) {
  CheckpointInfo before;
  while (!stop.load(std::memory_order_relaxed)) {
    std::vector<CheckpointInfo> list = database.wal->checkpoints().list();
    for (size_t i = 1; i < list.size(); ++i) {
      ASSERT_EQ(list[i].number, list[i - 1].number + 1);
      ASSERT_NE(list[i - 1].state, CheckpointInfo::State::running);
    }
    if (!list.empty() && list.back().number == before.number) {
      ASSERT_GE(list.back().walked_bytes, before.walked_bytes);
      ASSERT_GE(list.back().records, before.records);
    }
    if (!list.empty()) before = list.back();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void run(unsigned logs, unsigned walkers, bool clean) {
  char name[] = "/tmp/pgsilo_stress_XXXXXX";
  std::string directory = mkdtemp(name);
  WalOptions options;
  options.workers = workers;
  options.buffer_bytes = size_t{64} << 10;
  options.segment_bytes = size_t{512} << 10;
  options.checkpoints.max_log_bytes = size_t{4} << 20;
  options.checkpoint_threads = walkers;
  options.recovery_threads = 3;
  options.log_directories.clear();
  for (unsigned i = 0; i < logs; ++i) options.log_directories.push_back("wal" + std::to_string(i));
  Content expected;
  for (int life = 0; life < 4; ++life) {
    ThreadedDatabase database(directory, options);
    ASSERT_EQ(content_of(database), expected) << "life " << life;
    std::atomic<bool> stop{false};
    std::atomic<int> made{0};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < workers; ++i) {
      uint64_t seed = static_cast<uint64_t>(life) * workers + i;
      threads.emplace_back([&database, &stop, i, seed] { Writer(database, i, seed).run(stop); });
    }
    threads.emplace_back([&] { make_checkpoints(database, stop, made); });
    threads.emplace_back([&] { watch_checkpoints(database, stop); });
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    } while (made.load() < 2 && !::testing::Test::HasFailure());
    stop.store(true);
    for (std::thread& thread : threads) thread.join();
    database.wal->wait_durable(0, database.epochs->current());
    expected = content_of(database);
    // Read back beside all that, while files and segments came and went.
    ScrubStatus scrubbed = database.wal->scrubber().status();
    EXPECT_GT(scrubbed.checkpoint_bytes, 0u);
    EXPECT_EQ(scrubbed.damaged + scrubbed.unreadable, 0u) << scrubbed.last_fault;
    if (clean) database.wal->stop();
  }
  EXPECT_GT(expected.size(), keys);
  std::filesystem::remove_all(directory);
}

TEST(CheckpointStress, OneLogKilled) { run(1, 1, false); }
TEST(CheckpointStress, TwoLogsTwoWalkersKilled) { run(2, 2, false); }
TEST(CheckpointStress, StoppedCleanly) { run(2, 1, true); }

}  // namespace
}  // namespace pgsilo
