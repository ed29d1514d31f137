#include "bench/engine_database.h"

#include <cstdio>
#include <cstdlib>

namespace pgsilo {

namespace {
constexpr int64_t epoch_period_us = 40'000;
}

EngineDatabase::EngineDatabase(const EngineLogOptions& log, unsigned workers,
                               RecoveryListener* listener) {
  if (!log.logged()) {
    epochs_ = std::make_unique<EpochManager>(Epoch(1));
    snapshots_ = std::make_unique<SnapshotRegistry>(*epochs_);
    durable_ = std::make_unique<DurableEpoch>();
    return;
  }
  WalOptions options = log.wal;
  options.workers = workers;
  std::string why;
  wal_ = Wal::open(files_, clock_, log.directory, options, &why);
  bool ok =
      wal_ != nullptr && wal_->recover(relations_, reclaimer_, {}, listener, &recovered_, &why);
  if (ok) {
    epochs_ = std::make_unique<EpochManager>(recovered_.first_epoch);
    snapshots_ = std::make_unique<SnapshotRegistry>(*epochs_);
    durable_ = std::make_unique<DurableEpoch>(recovered_.durable_epoch);
    ok = wal_->start(*epochs_, *durable_, &why);
  }
  if (!ok) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::exit(1);
  }
  wal_->start_threads();
}

EngineDatabase::~EngineDatabase() {
  stop_clock();
  if (wal_ != nullptr) wal_->stop();
}

RedoSink& EngineDatabase::sink(unsigned worker) {
  return wal_ != nullptr ? wal_->worker_log(worker) : null_sink_;
}

void EngineDatabase::advance_epoch() {
  epochs_->advance();
  durable_->publish(epochs_->completed());
}

void EngineDatabase::start_clock() {
  if (wal_ != nullptr) return;
  clock_thread_ = std::thread([this] {
    for (int64_t next_us = monotonic_us() + epoch_period_us; !stopping_;) {
      end_of_clock_.park(next_us);
      if (monotonic_us() < next_us) continue;
      advance_epoch();
      next_us += epoch_period_us;
    }
  });
}

void EngineDatabase::stop_clock() {
  if (!clock_thread_.joinable()) return;
  stopping_ = true;
  end_of_clock_.unpark();
  clock_thread_.join();
}

EngineWorker::EngineWorker(EngineDatabase& database, unsigned index)
    : database(database),
      index(index),
      context(database.parts(), database.sink(index)),
      transaction(context, settings) {
  settings.parker = &parker;
  if (Wal* wal = database.wal()) wal->set_listener(index, &parker);
}

EngineWorker::~EngineWorker() {
  if (Wal* wal = database.wal()) wal->set_listener(index, nullptr);
}

}  // namespace pgsilo
