// Commits whose answers wait for the log: group commit on a simulated disk, with the logger on the
// clock's core as on its thread.
#include "base/clock.h"
#include "base/file_simulated.h"
#include "storage/relation/system_relations.h"
#include "tests/scaling/engine_bed.h"
#include "wal/wal.h"

namespace pgsilo::scaling {
namespace {

// The parts of a bed whose epochs are the log's.
class LoggedBed : public Workload {
 public:
  explicit LoggedBed(unsigned workers) : workers_(workers) {
    WalOptions options;
    options.workers = workers;
    options.buffer_bytes = size_t{64} << 10;
    options.segment_bytes = size_t{1} << 20;
    options.spare_segments = 2;
    options.recovery_threads = 1;
    options.checkpoint_at_stop = false;
    std::string why;
    wal_ = Wal::open(files_, clock_, "data", options, &why);
    RecoveryResult recovered;
    PGSILO_CHECK(wal_ != nullptr &&
                 wal_->recover(relations_, reclaimer_, {}, nullptr, &recovered, &why));
    epochs_.emplace(recovered.first_epoch);
    durable_.emplace(recovered.durable_epoch);
    snapshots_.emplace(*epochs_);
    PGSILO_CHECK(wal_->start(*epochs_, *durable_, &why));
    name_engine(*epochs_, *durable_, reclaimer_, *snapshots_);
  }
  std::vector<Part> parts() const override {
    return {{"step of the logger", true, true},
            {"first update since the step, logged"},
            {"further update, logged"}};
  }
  void load() override {
    BedWorker loader(engine_parts(), wal_->worker_log(0));
    const std::string row(EngineBed::row_bytes, 'r');
    for (uint64_t number = 0; number < (workers_.size() + 1) * EngineBed::rows_apart; ++number) {
      loader.transaction.begin(TransactionMode::one_shot);
      expect(loader.transaction.begin_statement());
      expect(loader.transaction.insert(rows_, Key(number).view(), row));
      expect(loader.transaction.commit());
      wal_->request_durable(0, loader.transaction.newest_epoch(), LoggerWake::later);
      if (number % rows_in_a_buffer == 0) step();
    }
    step();
  }
  void open(unsigned index) override {
    workers_[index] = std::make_unique<BedWorker>(engine_parts(), wal_->worker_log(index));
    wal_->set_listener(index, &listener_);
  }
  void run(size_t, unsigned index) override {
    BedWorker& w = *workers_[index];
    w.transaction.begin(TransactionMode::one_shot);
    expect(w.transaction.begin_statement());
    Key key(index * EngineBed::rows_apart + EngineBed::rows_between);
    expect(w.transaction.get(rows_, key.view(), w.buffer, &w.row));
    const std::array<char, EngineBed::row_bytes> changed{};
    expect(w.transaction.update(w.row, {changed.data(), changed.size()}));
    expect(w.transaction.commit());
    wal_->request_durable(index, w.transaction.newest_epoch(), LoggerWake::later);
    w.housekeep();
  }
  void step() override {
    wal_->prepare_segments();
    while (wal_->try_step(0)) {
    }
  }
  void look() override { look_at(relations_, reclaimer_); }

 private:
  static constexpr uint64_t rows_in_a_buffer = 128;
  class Listener final : public DurableListener {
   public:
    void on_durable(Epoch) override {}
  };
  EngineParts engine_parts() {
    return {*epochs_, *durable_, reclaimer_, relations_, locks_, *snapshots_};
  }

  SimulatedFileSystem files_{1};
  MonotonicClock clock_;
  RelationDirectory relations_;
  Reclaimer reclaimer_;
  LockTable locks_;
  std::optional<EpochManager> epochs_;
  std::optional<DurableEpoch> durable_;
  std::optional<SnapshotRegistry> snapshots_;
  std::unique_ptr<Wal> wal_;
  Listener listener_;
  Relation& rows_ = relations_.get_or_create(first_user_relation, RelationOptions{});
  std::vector<std::unique_ptr<BedWorker>> workers_;
};

}  // namespace

std::vector<WorkloadKind> logged_kinds() {
  return {{[](unsigned workers) { return std::make_unique<LoggedBed>(workers); }}};
}

}  // namespace pgsilo::scaling
