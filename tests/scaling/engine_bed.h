// An engine for transactions that nobody disturbs: no thread but the caller's, no log. Thread
// safety: as workload.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/byte_order.h"
#include "base/check.h"
#include "base/parker.h"
#include "storage/record/row_buffer.h"
#include "storage/relation/relation_directory.h"
#include "storage/transaction/transaction.h"
#include "storage/transaction/transaction_scan.h"
#include "tests/scaling/workload.h"

namespace pgsilo::scaling {

class Key {
 public:
  explicit Key(uint64_t number) { store_be64(bytes_, number); }
  std::string_view view() const { return {bytes_, sizeof bytes_}; }

 private:
  char bytes_[8];
};

// Of a secondary entry: the value, and the primary key behind it.
class EntryKey {
 public:
  EntryKey(uint64_t value, uint64_t row) {
    store_be64(bytes_, value);
    store_be64(bytes_ + 8, row);
  }
  std::string_view view() const { return {bytes_, sizeof bytes_}; }

 private:
  char bytes_[16];
};

// A number of each worker's, on a line of its own.
struct alignas(128) PerWorker {
  uint64_t operator++(int) { return value++; }
  uint64_t value = 0;
};

inline void expect(TransactionStatus status) { PGSILO_CHECK(status == TransactionStatus::ok); }

// In lock-step nobody has what another waits for.
class NoWaiting final : public Parker {
 public:
  void park(int64_t /*deadline_us*/) override { PGSILO_CHECK(false); }
  void unpark() override {}
};

// On lines of its own: which workers' neighbours are is up to who makes them, here and in a server.
struct alignas(128) BedWorker {
  BedWorker(const EngineParts& parts, RedoSink& sink)
      : context(parts, sink), transaction(context, settings) {
    settings.parker = &parker;
  }
  // As a worker between requests.
  void housekeep() { context.housekeep(); }

  NoWaiting parker;
  WaitSettings settings;
  WorkerContext context;
  Transaction transaction;
  Arena arena;
  RowBuffer buffer{arena};
  RowRef row;
  RowBuffer entry_buffer{arena};
  RowRef entry;
};

// Names their lines.
void name_engine(const EpochManager& epochs, const DurableEpoch& durable,
                 const Reclaimer& reclaimer, const SnapshotRegistry& snapshots);
// As views of sizes, rows and memory do.
void look_at(const RelationDirectory& relations, const Reclaimer& reclaimer);

// What all workers share, without a log: an epoch is durable when it is complete.
struct Engine {
  Engine();
  EngineParts parts() { return {epochs, durable, reclaimer, relations, locks, snapshots}; }
  void step();
  void look() { look_at(relations, reclaimer); }

  EpochManager epochs{Epoch(1)};
  DurableEpoch durable;
  RelationDirectory relations;  // outlives the reclaimer
  Reclaimer reclaimer;
  LockTable locks;
  SnapshotRegistry snapshots{epochs};
  NullRedoSink sink;
};

// A bed with tables of rows of 100 bytes under keys of 8.
class EngineBed : public Workload {
 public:
  static constexpr size_t row_bytes = 100;
  // Rows are loaded in one go, so neighbours by key are neighbours in memory; what one worker has
  // to itself lies apart from what others have.
  static constexpr uint64_t rows_apart = 32;
  static constexpr uint64_t rows_between = 12;

  explicit EngineBed(unsigned workers) : workers_(workers) {}
  void open(unsigned worker) override;
  void step() override { engine_.step(); }
  void look() override { engine_.look(); }

 protected:
  unsigned worker_count() const { return static_cast<unsigned>(workers_.size()); }
  std::unique_ptr<BedWorker> make_worker() {
    return std::make_unique<BedWorker>(engine_.parts(), engine_.sink);
  }
  BedWorker& worker(unsigned index) { return *workers_[index]; }
  BedWorker& loader();
  Relation& create_relation();
  // Rows 0, 1, ... of the relation.
  void load_rows(Relation& relation, uint64_t count);
  // The n-th of those that are the worker's.
  static uint64_t own_row(unsigned worker, uint64_t n) {
    return worker * rows_apart + rows_between + n % (rows_apart - 2 * rows_between);
  }
  void begin(BedWorker& worker, TransactionMode mode = TransactionMode::one_shot);
  // Commits, and what the worker does between two requests.
  void end(BedWorker& worker);
  void update(BedWorker& worker, Relation& relation, uint64_t row,
              ReadPurpose purpose = ReadPurpose::plain);

 private:
  Engine engine_;
  std::vector<std::unique_ptr<BedWorker>> workers_;
  std::unique_ptr<BedWorker> loader_;
};

}  // namespace pgsilo::scaling
