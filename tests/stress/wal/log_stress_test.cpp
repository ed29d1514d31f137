// Workers, loggers and the segment keeper on their own threads over real files: nothing is lost,
// nobody sleeps for ever, rings and long appends and rotation all at once. Runs under
// ThreadSanitizer too.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/arena.h"
#include "base/random.h"
#include "storage/record/row_buffer.h"
#include "tests/stress/wal/threaded_database.h"

namespace pgsilo {
namespace {

struct WorkerRun {
  ThreadedDatabase& database;
  unsigned index;
  int transactions;
  LoggerWake wake;
  bool steps;      // runs the log's step itself when it waits
  size_t longest;  // row

  void operator()() {
    DurableParker parker;
    WorkerContext worker(database.parts(), database.wal->worker_log(index));
    WaitSettings settings;
    settings.parker = &parker;
    database.wal->set_listener(index, &parker);
    Transaction transaction(worker, settings);
    Relation& relation = database.relations.get_or_create(RelationId(1 + index), {});
    Random random(index);
    Arena arena;
    for (int i = 0; i < transactions; ++i) {
      arena.reset();
      RowBuffer buffer(arena);
      transaction.begin(TransactionMode::one_shot);
      ASSERT_EQ(transaction.begin_statement(), TransactionStatus::ok);
      std::string row(random.one_in(50) ? random.below(longest) : random.below(200), 'r');
      ASSERT_EQ(transaction.insert(relation, std::to_string(i), row), TransactionStatus::ok);
      ASSERT_EQ(transaction.commit(), TransactionStatus::ok);
      worker.housekeep();
      if (random.one_in(4)) wait(parker, transaction.newest_epoch());
    }
    database.wal->set_listener(index, nullptr);
  }

  void wait(DurableParker& parker, Epoch epoch) {
    database.wal->request_durable(index, epoch, wake);
    while (!database.durable->covers(epoch)) {
      if (!steps || !database.wal->try_step(index)) parker.park(Parker::no_deadline);
    }
  }
};

void run(unsigned workers, unsigned logs, int transactions, LogSyncMethod method,
         bool compress = false) {
  char name[] = "/tmp/pgsilo_stress_XXXXXX";
  std::string directory = mkdtemp(name);
  WalOptions options;
  options.workers = workers;
  options.sync_method = method;
  options.compress = compress;
  options.buffer_bytes = size_t{64} << 10;
  options.segment_bytes = size_t{512} << 10;
  options.flush_after_us = 2000;
  options.recovery_threads = 3;
  options.log_directories.clear();
  for (unsigned i = 0; i < logs; ++i) options.log_directories.push_back("wal" + std::to_string(i));
  {
    ThreadedDatabase database(directory, options);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < workers; ++i) {
      threads.emplace_back(
          WorkerRun{database, i, transactions, i % 2 == 0 ? LoggerWake::now : LoggerWake::later,
                    i % 2 != 0 || i % 3 == 0, i % 2 == 0 ? size_t{30'000} : size_t{300'000}});
    }
    for (std::thread& thread : threads) thread.join();
    database.wal->stop();
    EXPECT_GE(database.durable->get(), Epoch(1));
  }
  ThreadedDatabase database(directory, options);
  EXPECT_TRUE(database.recovered.clean_shutdown);
  for (unsigned i = 0; i < workers; ++i) {
    Relation* relation = database.relations.find(RelationId(1 + i));
    ASSERT_NE(relation, nullptr);
    EXPECT_EQ(relation->row_count(), transactions);
  }
  database.wal->stop();
  std::filesystem::remove_all(directory);
}

TEST(LogStress, OneLog) { run(3, 1, 600, LogSyncMethod::direct); }
TEST(LogStress, TwoLogs) { run(4, 2, 400, LogSyncMethod::direct); }
TEST(LogStress, TwoLogsCompressed) { run(4, 2, 400, LogSyncMethod::direct, true); }
TEST(LogStress, ThroughThePageCache) { run(2, 1, 400, LogSyncMethod::fdatasync); }

// Nobody waits: the logger makes it durable by itself, and then sleeps.
TEST(LogStress, WhatNobodyWaitsForBecomesDurable) {
  char name[] = "/tmp/pgsilo_stress_XXXXXX";
  std::string directory = mkdtemp(name);
  WalOptions options;
  options.buffer_bytes = size_t{64} << 10;
  options.segment_bytes = size_t{512} << 10;
  options.flush_after_us = 1000;
  {
    ThreadedDatabase database(directory, options);
    WorkerContext worker(database.parts(), database.wal->worker_log(0));
    WaitSettings settings;
    for (int i = 0; i < 5; ++i) {
      Transaction transaction(worker, settings);
      transaction.begin(TransactionMode::one_shot);
      ASSERT_EQ(transaction.begin_statement(), TransactionStatus::ok);
      Relation& relation = database.relations.get_or_create(RelationId(1), {});
      ASSERT_EQ(transaction.insert(relation, std::to_string(i), "row"), TransactionStatus::ok);
      ASSERT_EQ(transaction.commit(), TransactionStatus::ok);
      while (!database.durable->covers(transaction.newest_epoch())) std::this_thread::yield();
      std::this_thread::sleep_for(
          std::chrono::milliseconds(5 * i));  // long enough to fall asleep, or not
    }
    database.wal->stop();
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace pgsilo
