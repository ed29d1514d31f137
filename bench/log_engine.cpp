// The engine with its log, without SQL: usage: log_engine DIRECTORY [WORKERS [TRANSACTIONS [LOGS
// [WINDOW [COMPRESSION [NOISE]]]]]]. Each worker commits small transactions (three updates and an
// insert, as pgbench's) and lets at most WINDOW of them wait for durability at a time, as a worker
// with that many clients would; of each row NOISE percent (0) are random bytes, the rest the same
// ones everywhere; COMPRESSION is off (so by itself) or lz4. Then the database is recovered with 1
// and with all CPUs.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/arena.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "storage/relation/relation_directory.h"
#include "storage/relation/system_relations.h"
#include "storage/transaction/transaction.h"
#include "wal/durable_parker.h"
#include "wal/wal.h"

namespace pgsilo {
namespace {

constexpr uint64_t accounts = 100'000;

struct Database {
  Database(const std::string& directory, WalOptions options) : files(posix_file_system()) {
    std::string why;
    wal = Wal::open(*files, clock, directory, options, &why);
    int64_t started = monotonic_us();
    bool ok = wal != nullptr && wal->recover(relations, reclaimer, {}, nullptr, &recovered, &why);
    recovery_us = monotonic_us() - started;
    epochs = std::make_unique<EpochManager>(recovered.first_epoch);
    snapshots = std::make_unique<SnapshotRegistry>(*epochs);
    durable = std::make_unique<DurableEpoch>(recovered.durable_epoch);
    if (!ok || !wal->start(*epochs, *durable, &why)) {
      std::fprintf(stderr, "%s\n", why.c_str());
      std::exit(1);
    }
    wal->start_threads();
  }

  std::unique_ptr<FileSystem> files;
  MonotonicClock clock;
  RelationDirectory relations;
  Reclaimer reclaimer;
  LockTable locks;
  RecoveryResult recovered;
  int64_t recovery_us = 0;
  std::unique_ptr<EpochManager> epochs;
  std::unique_ptr<SnapshotRegistry> snapshots;
  std::unique_ptr<DurableEpoch> durable;
  std::unique_ptr<Wal> wal;
};

std::string key_of(uint64_t number) {
  std::string key(8, '\0');
  for (int i = 0; i < 8; ++i)
    key[static_cast<size_t>(i)] = static_cast<char>(number >> (56 - 8 * i));
  return key;
}

void put(Transaction& transaction, Relation& relation, uint64_t key, const std::string& row,
         RowBuffer& buffer) {
  RowRef found;
  PGSILO_CHECK(transaction.begin_statement() == TransactionStatus::ok);
  std::string encoded = key_of(key);
  TransactionStatus status = transaction.get(relation, encoded, buffer, &found);
  status = status == TransactionStatus::ok ? transaction.update(found, row)
                                           : transaction.insert(relation, encoded, row);
  PGSILO_CHECK(status == TransactionStatus::ok);
}

struct Load {
  unsigned workers;
  uint64_t transactions;
  size_t window;
  size_t noise;
};

void work(Database& database, unsigned index, const Load& load) {
  EngineParts parts{*database.epochs,   *database.durable, database.reclaimer,
                    database.relations, database.locks,    *database.snapshots};
  WorkerContext worker(parts, database.wal->worker_log(index));
  DurableParker parker;
  database.wal->set_listener(index, &parker);
  WaitSettings settings;
  settings.parker = &parker;
  Transaction transaction(worker, settings);
  auto table = [&](uint32_t number) -> Relation& {
    return database.relations.get_or_create(RelationId(first_user_relation.value() + number), {});
  };
  Relation& rows = table(2 * index);
  Relation& history = table(2 * index + 1);
  Random random(index);
  std::string row(96, 'r');
  auto next_row = [&]() -> const std::string& {
    for (size_t at = 0; at < row.size() * load.noise / 100; ++at)
      row[at] = static_cast<char>(random.next());
    return row;
  };
  Arena arena;
  std::deque<Epoch> waiting;
  for (uint64_t i = 0; i < load.transactions / load.workers; ++i) {
    arena.reset();
    RowBuffer buffer(arena);
    transaction.begin(TransactionMode::one_shot);
    for (int update = 0; update < 3; ++update)
      put(transaction, rows, random.below(accounts), next_row(), buffer);
    put(transaction, history, i, next_row(), buffer);
    if (transaction.commit() != TransactionStatus::ok) continue;
    waiting.push_back(transaction.newest_epoch());
    worker.housekeep();
    if (waiting.size() < load.window) continue;
    database.wal->request_durable(index, waiting.back(), LoggerWake::later);
    while (!waiting.empty()) {
      if (database.durable->covers(waiting.front())) {
        waiting.pop_front();
      } else if (!database.wal->try_step(index)) {
        parker.park(Parker::no_deadline);
      }
    }
  }
  database.wal->set_listener(index, nullptr);
}

void run(const std::string& directory, const Load& load, unsigned logs, bool compress) {
  WalOptions options;
  options.workers = load.workers;
  options.compress = compress;
  // All of the log is to be there for recovery.
  options.checkpoints.max_log_bytes = UINT64_MAX;
  options.checkpoint_at_stop = false;
  options.log_directories.clear();
  for (unsigned i = 0; i < logs; ++i) options.log_directories.push_back("wal" + std::to_string(i));
  {
    Database database(directory, options);
    int64_t started = monotonic_us();
    std::vector<std::thread> threads;
    threads.reserve(load.workers);
    for (unsigned i = 0; i < load.workers; ++i) {
      threads.emplace_back([&, i] { work(database, i, load); });
    }
    for (std::thread& thread : threads) thread.join();
    database.wal->stop();
    double seconds = static_cast<double>(monotonic_us() - started) / 1e6;
    WalStatus status = database.wal->status();
    std::printf(
        "%u workers, %u logs, window %zu: %.0f transactions/s, %.0f syncs/s, %.1f MB/s of log, "
        "%.0f bytes each\n",
        load.workers, logs, load.window, static_cast<double>(load.transactions) / seconds,
        static_cast<double>(status.syncs) / seconds,
        static_cast<double>(status.bytes_written) / seconds / 1e6,
        static_cast<double>(status.bytes_written) / static_cast<double>(load.transactions));
  }
  for (unsigned threads : {1u, std::thread::hardware_concurrency()}) {
    options.recovery_threads = threads;
    Database database(directory, options);
    double seconds = static_cast<double>(database.recovery_us) / 1e6;
    std::printf("recovery on %u threads: %.2f s, %.0f transactions/s, %.0f MB/s\n", threads,
                seconds, static_cast<double>(database.recovered.records) / seconds,
                static_cast<double>(database.recovered.log_bytes) / seconds / 1e6);
    database.wal->stop();
  }
}

}  // namespace
}  // namespace pgsilo

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  auto number = [&](int index, uint64_t fallback) {
    return argc > index ? std::strtoull(argv[index], nullptr, 10) : fallback;
  };
  pgsilo::Load load{.workers = static_cast<unsigned>(number(2, 1)),
                    .transactions = number(3, 1'000'000),
                    .window = number(5, 32),
                    .noise = number(7, 0)};
  bool compress = argc > 6 && std::string_view(argv[6]) != "off";
  pgsilo::run(argv[1], load, static_cast<unsigned>(number(4, 1)), compress);
  return 0;
}
