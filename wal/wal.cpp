#include "wal/wal.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/check.h"
#include "base/clock.h"
#include "storage/epoch/durable_epoch.h"
#include "storage/epoch/epoch_manager.h"
#include "storage/relation/relation_directory.h"
#include "wal/recovery/replay.h"
#include "wal/wal_state.h"

namespace pgsilo {
namespace {

bool names_checkpoint_file(const ControlFile& control, const std::string& directory,
                           const std::string& name) {
  const CheckpointManifest& checkpoint = control.checkpoint;
  for (uint32_t i = 0; i < checkpoint.files.size(); ++i) {
    CheckpointFileIdentity identity{control.database, checkpoint.number, i};
    if (checkpoint.files[i].directory == directory && identity.name() == name) return true;
  }
  return false;
}

}  // namespace

Wal::Wal(std::unique_ptr<State> state) : state_(std::move(state)) {}

Wal::~Wal() {
  if (state_->keeper == nullptr) return;
  state_->checkpointer->stop();
  for (LogUnit& unit : state_->units) unit.logger->stop();
  state_->keeper->stop();
}

bool Wal::recover(RelationDirectory& relations, Reclaimer& reclaimer, RecoveryListener* listener,
                  RecoveryResult* result, std::string* why) {
  State& state = *state_;
  state.relations = &relations;
  state.reclaimer = &reclaimer;
  unsigned threads = state.options.recovery_threads;
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<LogDirectory*> directories;
  directories.reserve(state.units.size());
  for (const LogUnit& unit : state.units) directories.push_back(unit.directory.get());
  result->clean_shutdown =
      !state.control.incarnations.empty() && state.control.incarnations.back().clean;
  RecoveryMeter meter(state.clock, listener);
  const CheckpointManifest& checkpoint = state.control.checkpoint;
  if (!open_checkpoint(state.files, state.directory, state.control.database, checkpoint,
                       &state.checkpoint_files, why)) {
    return false;
  }
  meter.expect(checkpoint.bytes());
  AnalyzerOptions options{.threads = threads, .accept_data_loss = state.options.accept_data_loss};
  if (!analyze_logs(state.files, directories, options, meter, &state.control, &state.analysis, why))
    return false;
  if (!state.restore(threads, meter, result, why)) return false;
  meter.report(true);
  result->log_bytes = state.analysis.replay_bytes;
  result->checkpoint_bytes = checkpoint.bytes();
  result->new_database = result->entries == 0 && !checkpoint.exists();
  result->data_loss = state.analysis.data_loss;
  state.first_epoch = next(state.analysis.largest_seen);
  result->first_epoch = state.first_epoch;
  result->durable_epoch = state.analysis.largest_seen;
  return true;
}

// The checkpoint's rows, then what the logs say of them.
bool Wal::State::restore(unsigned threads, RecoveryMeter& meter, RecoveryResult* result,
                         std::string* why) {
  meter.expect_only(control.checkpoint.bytes() + analysis.replay_bytes);
  relations->raise_id_floor(RelationId(control.checkpoint.relation_id_floor));
  if (!load_checkpoint(files, checkpoint_files, threads, *relations, *reclaimer, meter,
                       &result->checkpoint_rows, why)) {
    return false;
  }
  checkpoint_files.clear();
  ReplayCounts counts;
  if (!replay_logs(files, analysis, threads, *relations, *reclaimer, meter, &counts, why))
    return false;
  result->records = counts.records;
  result->entries = counts.entries;
  return true;
}

void Wal::drop_relations_unless(RelationPredicate named, void* context) {
  ReclaimerHandle handle(*state_->reclaimer);
  Pin pin(handle);
  for (Relation* relation : state_->relations->list()) {
    if (!named(relation->id(), context)) state_->relations->drop(relation->id(), handle);
  }
}

Incarnation Wal::State::next_incarnation() const {
  Incarnation incarnation;
  incarnation.number = control.last_incarnation + 1;
  incarnation.first_epoch = first_epoch;
  for (const LogUnit& unit : units)
    incarnation.logs.push_back({unit.directory->log(), unit.directory->path()});
  return incarnation;
}

bool Wal::State::prepare_stores(std::string* why) {
  for (size_t i = 0; i < units.size(); ++i) {
    LogUnit& unit = units[i];
    unsigned workers =
        static_cast<unsigned>((options.workers + units.size() - 1 - i) / units.size());
    SegmentStoreOptions store{.directory = unit.directory->path(),
                              .segment_bytes = options.segment_bytes,
                              .ring_bytes = options.buffer_bytes * workers,
                              .workers = workers,
                              .spare_segments = options.spare_segments,
                              .retired_bytes = options.checkpoints.max_log_bytes / units.size(),
                              .direct = options.sync_method == LogSyncMethod::direct};
    unit.segments = std::make_unique<SegmentStore>(files, store);
    FileResult result = unit.directory->remove_unfinished_segments();
    if (result.ok())
      result = unit.segments->open(analysis.next_segment[i], analysis.empty_segments[i]);
    while (result.ok() && unit.segments->wants_segments()) result = unit.segments->prepare_one();
    // Fewer spare ones than wanted will do for now.
    if (!result.ok() && unit.segments->state() != LogSpace::ample) {
      *why =
          "could not prepare log segments in \"" + unit.directory->path() + "\": " + result.text();
      return false;
    }
  }
  return true;
}

void Wal::State::build_loggers() {
  size_t ring_record =
      std::min(options.buffer_bytes / 4, log_format::max_payload_bytes(options.segment_bytes));
  std::vector<WorkerLog*> all;
  for (unsigned worker = 0; worker < options.workers; ++worker) {
    logs.push_back(std::make_unique<WorkerLog>(options.buffer_bytes, ring_record,
                                               *units[worker % units.size()].segments));
    all.push_back(logs.back().get());
  }
  commit = std::make_unique<GroupCommit>(*durable, all, static_cast<unsigned>(units.size()));
  std::vector<Logger*> loggers;
  for (unsigned i = 0; i < units.size(); ++i) {
    std::vector<WorkerLog*> own;
    for (size_t worker = i; worker < all.size(); worker += units.size()) own.push_back(all[worker]);
    units[i].logger =
        std::make_unique<Logger>(Logger::Parts{.index = i,
                                               .epochs = *epochs,
                                               .commit = *commit,
                                               .segments = *units[i].segments,
                                               .logs = own,
                                               .log = units[i].directory->log(),
                                               .incarnation = control.incarnations.back().number,
                                               .flush_after_us = options.flush_after_us});
    for (WorkerLog* log : own) log->set_logger(*units[i].logger);
    loggers.push_back(units[i].logger.get());
  }
  keeper = std::make_unique<SegmentKeeper>(loggers);
  for (Logger* logger : loggers) logger->connect(loggers, keeper.get());
}

void Wal::State::build_checkpointer() {
  CheckpointParts parts{
      .files = files,
      .epochs = *epochs,
      .commit = *commit,
      .relations = *relations,
      .reclaimer = *reclaimer,
      .data_directory = directory,
      .directories = options.checkpoint_directories,
      .database = control.database,
      .incarnation = control.last_incarnation,
      .logs = {},
      .walkers = std::max(1u, options.checkpoint_threads),
  };
  for (const LogUnit& unit : units)
    parts.logs.push_back({unit.directory->log(), unit.logger.get()});
  checkpointer = std::make_unique<Checkpointer>(
      std::move(parts), clock, control, *keeper,
      Checkpointer::Options{.schedule = options.checkpoints,
                            .log_bytes_before = analysis.replay_bytes});
  keeper->set_listener(checkpointer.get());
}

// Files that the control file does not name: of a checkpoint that was not completed, or of one that
// was replaced. What cannot be removed does no harm.
void Wal::State::remove_stale_checkpoints() {
  std::vector<std::string> directories = options.checkpoint_directories;
  for (const CheckpointFile& file : control.checkpoint.files) directories.push_back(file.directory);
  for (const std::string& name : directories) {
    std::vector<std::string> names;
    std::string path = join_path(directory, name);
    if (!files.list(path, &names).ok()) continue;
    for (const std::string& file : names) {
      if (!is_checkpoint_file_name(file, control.database) ||
          names_checkpoint_file(control, name, file))
        continue;
      static_cast<void>(files.remove(join_path(path, file)));
    }
  }
}

bool Wal::start(EpochManager& epochs, DurableEpoch& durable, std::string* why) {
  State& state = *state_;
  PGSILO_CHECK(epochs.current() >= state.first_epoch && durable.get() < epochs.current());
  state.epochs = &epochs;
  state.durable = &durable;
  if (!state.prepare_stores(why)) return false;
  state.control.incarnations.push_back(state.next_incarnation());
  state.control.last_incarnation = state.control.incarnations.back().number;
  if (!state.save_control(why)) return false;
  state.build_loggers();
  state.build_checkpointer();
  // From here on what the control file does not name may go.
  state.remove_stale_checkpoints();
  for (LogUnit& unit : state.units) {
    for (const LogCut& cut : state.control.checkpoint.cuts) {
      if (cut.log != unit.directory->log()) continue;
      static_cast<void>(unit.segments->retire_below(cut.segment));
    }
  }
  return true;
}

void Wal::start_threads() {
  state_->threads = true;
  state_->keeper->start();
  for (LogUnit& unit : state_->units) unit.logger->start();
  state_->checkpointer->start();
}

void Wal::stop() {
  State& state = *state_;
  Epoch last = state.epochs->current();
  wait_durable(0, last);
  state.checkpointer->stop();
  std::string why;
  // If it fails, the next start replays the log.
  if (state.options.checkpoint_at_stop && state.checkpointer->is_due())
    static_cast<void>(state.checkpointer->run_now(CheckpointReason::shutdown, &why));
  for (LogUnit& unit : state.units) unit.logger->stop();
  state.keeper->stop();
  state.threads = false;
  Incarnation& incarnation = state.control.incarnations.back();
  incarnation.closed = incarnation.clean = true;
  incarnation.durable = state.commit->recorded();
  for (Epoch data : state.commit->last_data(Epoch(UINT64_MAX)))
    PGSILO_CHECK(data <= incarnation.durable);
  // If it fails, the next start takes it for a crash: nothing is lost.
  static_cast<void>(state.save_control(&why));
}

unsigned Wal::workers() const { return state_->options.workers; }
RedoSink& Wal::worker_log(unsigned worker) { return *state_->logs[worker]; }
void Wal::set_listener(unsigned worker, DurableListener* listener) {
  state_->commit->set_listener(worker, listener);
}
Epoch Wal::durable_epoch() const { return state_->durable->get(); }

void Wal::request_durable(unsigned worker, Epoch epoch, LoggerWake wake) {
  if (state_->commit->request(worker, epoch) && wake == LoggerWake::now) wake_logger(worker);
}

void Wal::wake_logger(unsigned worker) { state_->logger_of(worker).wake(); }

bool Wal::try_step(unsigned worker) { return state_->logger_of(worker).try_step(); }

void Wal::wait_durable(unsigned worker, Epoch epoch) {
  State& state = *state_;
  while (!state.durable->covers(epoch)) {
    state.commit->request_silently(epoch);
    bool progress = false;
    for (size_t i = 0; i < state.units.size(); ++i) {
      progress |= state.units[(worker + i) % state.units.size()].logger->try_step();
    }
    if (!progress && state.threads) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void Wal::prepare_segments() { state_->keeper->run_once(); }

Checkpointer& Wal::checkpointer() { return *state_->checkpointer; }

WalStatus Wal::status() const {
  WalStatus status;
  for (const LogUnit& unit : state_->units) {
    status.syncs += unit.logger->batches();
    status.bytes_written += unit.logger->bytes_written();
    status.segments_prepared += unit.segments->prepared();
    status.out_of_space |= unit.segments->state() == LogSpace::exhausted;
  }
  return status;
}

}  // namespace pgsilo
