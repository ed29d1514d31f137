// Commits whose answers wait for the log: group commit on a simulated disk, with the logger on the
// clock's core as on its thread.
#include <array>
#include <optional>
#include <string>

#include "base/file_simulated.h"
#include "tests/scaling/engine_bed.h"
#include "tests/scaling/memory_names.h"
#include "wal/log/group_commit.h"
#include "wal/log/logger.h"
#include "wal/log/segment_keeper.h"
#include "wal/log/worker_log.h"
#include "wal/wal.h"

namespace pgsilo::scaling {
namespace {

constexpr size_t buffer_bytes = size_t{64} << 10;
constexpr size_t segment_bytes = size_t{1} << 20;

// One log, as Wal::State puts it together.
class Log {
 public:
  Log(EpochManager& epochs, DurableEpoch& durable, unsigned workers)
      : segments_(files_, {.directory = "log",
                           .segment_bytes = segment_bytes,
                           .ring_bytes = buffer_bytes * workers,
                           .workers = workers,
                           .spare_segments = 2}) {
    PGSILO_CHECK(files_.create_directory("log").ok() && segments_.open(1, {}).ok());
    prepare_segments();
    std::vector<WorkerLog*> all;
    for (unsigned i = 0; i < workers; ++i) {
      logs_.push_back(std::make_unique<WorkerLog>(buffer_bytes, buffer_bytes / 4, segments_));
      all.push_back(logs_.back().get());
      name_memory("worker's log", all.back(), sizeof *all.back());
    }
    commit_.emplace(durable, all, 1, durable.get());
    logger_.emplace(Logger::Parts{.index = 0,
                                  .epochs = epochs,
                                  .commit = *commit_,
                                  .segments = segments_,
                                  .logs = all,
                                  .log = {1, 1},
                                  .incarnation = {1, 1},
                                  .started_us = 0,
                                  .flush_after_us = 1000,
                                  .compress = false});
    keeper_.emplace(std::vector<Logger*>{&*logger_});
    logger_->connect({&*logger_}, &*keeper_);
    for (WorkerLog* log : all) log->set_logger(*logger_);
    name_memory("state of the log's space", &segments_, sizeof segments_);
    name_memory("group commit", &*commit_, sizeof *commit_);
    name_memory("logger", &*logger_, sizeof *logger_);
  }
  RedoSink& sink(unsigned worker) { return *logs_[worker]; }
  GroupCommit& commit() { return *commit_; }
  void step() {
    prepare_segments();
    while (logger_->try_step()) {
    }
  }

 private:
  void prepare_segments() {
    while (segments_.wants_segments()) PGSILO_CHECK(segments_.prepare_one().ok());
  }

  SimulatedFileSystem files_{1};
  SegmentStore segments_;
  std::vector<std::unique_ptr<WorkerLog>> logs_;
  std::optional<GroupCommit> commit_;
  std::optional<Logger> logger_;
  std::optional<SegmentKeeper> keeper_;
};

class LoggedUpdate final : public Workload {
 public:
  explicit LoggedUpdate(unsigned workers)
      : log_(engine_.epochs, engine_.durable, workers), workers_(workers) {}
  std::vector<Part> parts() const override {
    return {{"step of the logger", true, true},
            {"first update since the step, logged"},
            {"further update, logged"}};
  }
  void load() override {
    BedWorker loader(engine_.parts(), engine_.sink);
    const std::string row(EngineBed::row_bytes, 'r');
    loader.transaction.begin(TransactionMode::one_shot);
    expect(loader.transaction.begin_statement());
    for (uint64_t number = 0; number < (workers_.size() + 1) * EngineBed::rows_apart; ++number)
      expect(loader.transaction.insert(rows_, Key(number).view(), row));
    expect(loader.transaction.commit());
  }
  void open(unsigned index) override {
    workers_[index] = std::make_unique<BedWorker>(engine_.parts(), log_.sink(index));
    log_.commit().set_listener(index, &listener_);
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
    log_.commit().request(index, w.transaction.newest_epoch());
    w.housekeep();
  }
  void step() override { log_.step(); }
  void look() override { engine_.look(); }

 private:
  class Listener final : public DurableListener {
   public:
    bool on_durable(Epoch) override { return false; }
  };

  Engine engine_;
  Log log_;
  Listener listener_;
  Relation& rows_ = engine_.relations.create(RelationOptions{}, /*is_private=*/false);
  std::vector<std::unique_ptr<BedWorker>> workers_;
};

}  // namespace

std::vector<WorkloadKind> logged_kinds() {
  return {{[](unsigned workers) { return std::make_unique<LoggedUpdate>(workers); }}};
}

}  // namespace pgsilo::scaling
