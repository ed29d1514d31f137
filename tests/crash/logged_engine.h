// The engine with its log, without SQL: real transactions over a file system that tests choose, on
// one thread. Waiting for log buffers runs the log's step on the spot. Thread safety: none.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "storage/epoch/durable_epoch.h"
#include "storage/epoch/epoch_manager.h"
#include "storage/epoch/reclaimer.h"
#include "storage/relation/relation_directory.h"
#include "storage/transaction/transaction.h"
#include "wal/stepping_parker.h"
#include "wal/wal.h"

namespace pgsilo {

// What a transaction writes: rows by (relation, key); no row: delete.
struct WriteOperation {
  uint32_t relation;
  std::string key;
  std::optional<std::string> row;
};
// (relation, key) -> row.
using Content = std::map<std::pair<uint32_t, std::string>, std::string>;
void apply_writes(Content& content, const std::vector<WriteOperation>& transaction);

class LoggedEngine {
 public:
  // Small buffers and segments, no threads.
  static WalOptions small_options();
  // Their names, for options.
  static std::vector<std::string> log_directories(size_t count);

  LoggedEngine(FileSystem& files, std::string directory, WalOptions options);
  ~LoggedEngine();
  LoggedEngine(const LoggedEngine&) = delete;
  LoggedEngine& operator=(const LoggedEngine&) = delete;

  // Opens, recovers, starts. False: why(). The parts, in this order, for those who do something in
  // between; nothing is written before begin(), a new database's identity apart.
  bool start() { return recover() && begin(); }
  bool recover(const LiveRelations& live = {});
  bool begin();
  const std::string& why() const { return why_; }
  const RecoveryResult& recovered() const { return recovered_; }

  // Commits on worker `worker`; the epoch, or none with status() if it failed.
  std::optional<Epoch> commit(unsigned worker, const std::vector<WriteOperation>& transaction);
  TransactionStatus status() const { return status_; }
  // The rows there are now.
  Content content();
  // From now on commits reach no log, nor wait for one: of what still runs, to end it.
  void disconnect_log();
  // One step of worker's logger, as an idle worker that waits for `epoch` would run it.
  void step(unsigned worker, Epoch epoch);

  Wal& wal() { return *wal_; }
  EpochManager& epochs() { return *epochs_; }
  RelationDirectory& relations() { return relations_; }
  Reclaimer& reclaimer() { return reclaimer_; }
  EngineParts parts() { return {*epochs_, *durable_, reclaimer_, relations_, locks_, *snapshots_}; }
  RedoSink& sink(unsigned worker) { return *sinks_[worker]; }
  WorkerContext& worker(unsigned index) { return *workers_[index]; }
  const WaitSettings& waits() const { return settings_; }

 private:
  // A worker's log, as long as it is connected.
  class Sink final : public RedoSink {
   public:
    explicit Sink(RedoSink& log) : log_(&log) {}
    void disconnect() { log_ = nullptr; }
    ReserveResult reserve(size_t entries, size_t bytes, RedoPurpose purpose) override {
      return log_ == nullptr ? ReserveResult::ok : log_->reserve(entries, bytes, purpose);
    }
    void wait_for_buffer(Parker& parker, int64_t deadline_us) override {
      if (log_ != nullptr) log_->wait_for_buffer(parker, deadline_us);
    }
    void append(Tid tid, std::span<const RedoEntry> entries) override {
      if (log_ != nullptr) log_->append(tid, entries);
    }
    void append_part(Tid tid, std::span<const RedoEntry> entries) override {
      if (log_ != nullptr) log_->append_part(tid, entries);
    }

   private:
    RedoSink* log_;
  };
  TransactionStatus write(Transaction& transaction, const WriteOperation& operation);

  FileSystem& files_;
  const std::string directory_;
  const WalOptions options_;
  std::string why_;
  RecoveryResult recovered_;
  TransactionStatus status_ = TransactionStatus::ok;

  MonotonicClock clock_;
  RelationDirectory relations_;  // outlives the reclaimer
  Reclaimer reclaimer_;
  LockTable locks_;
  std::unique_ptr<EpochManager> epochs_;
  std::unique_ptr<SnapshotRegistry> snapshots_;
  std::unique_ptr<DurableEpoch> durable_;
  std::unique_ptr<Wal> wal_;
  std::vector<std::unique_ptr<Sink>> sinks_;
  std::vector<std::unique_ptr<WorkerContext>> workers_;
  std::optional<SteppingParker> parker_;
  WaitSettings settings_;
  Arena arena_;
};

}  // namespace pgsilo
