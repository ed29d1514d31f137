#include "wal/wal.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/check.h"
#include "base/clock.h"
#include "base/server_log.h"
#include "storage/epoch/durable_epoch.h"
#include "storage/epoch/epoch_manager.h"
#include "storage/relation/relation_directory.h"
#include "wal/backup/backup_label.h"
#include "wal/recovery/known_progress.h"
#include "wal/recovery/replay.h"
#include "wal/wal_state.h"

namespace pgsilo {

Wal::Wal(std::unique_ptr<State> state) : state_(std::move(state)) {}

Wal::~Wal() {
  if (state_->keeper == nullptr) return;
  state_->scrubber->stop();
  state_->checkpointer->stop();
  for (LogUnit& unit : state_->units) unit.logger->stop();
  state_->keeper->stop();
}

std::vector<LogDirectory*> Wal::State::log_directories() const {
  std::vector<LogDirectory*> directories;
  directories.reserve(units.size() + read_logs.size());
  for (const LogUnit& unit : units) directories.push_back(unit.directory.get());
  for (const auto& log : read_logs) directories.push_back(log.get());
  return directories;
}

unsigned Wal::State::recovery_threads() const {
  if (options.recovery_threads != 0) return options.recovery_threads;
  // While one waits for the disk, another may compute.
  return 2 * std::max(1u, std::thread::hardware_concurrency());
}

bool Wal::recover(RelationDirectory& relations, Reclaimer& reclaimer, const LiveRelations& live,
                  RecoveryListener* listener, RecoveryResult* result, std::string* why) {
  State& state = *state_;
  state.relations = &relations;
  state.reclaimer = &reclaimer;
  unsigned threads = state.recovery_threads();
  result->clean_shutdown = state.clean_before =
      !state.control.incarnations.empty() && state.control.incarnations.back().clean;
  RecoveryMeter meter(state.clock, listener);
  int64_t started_us = state.clock.now_us();
  const CheckpointManifest& checkpoint = state.control.checkpoint;
  if (!open_checkpoint(state.files, state.directory, state.options.checkpoint_directories,
                       state.control.database, checkpoint, &state.checkpoint_files, state.losable(),
                       why)) {
    return false;
  }
  meter.expect(checkpoint.bytes());
  const ControlFile before = state.control;
  if (!state.find_mark(why)) return false;
  if (!state.analyze(threads, meter, why)) {
    state.blame_backup(why);
    return false;
  }
  result->analysis_us = state.clock.now_us() - started_us;
  if (!state.restore(live, threads, meter, result, why)) {
    state.explain(before, threads, why);
    state.blame_backup(why);
    return false;
  }
  meter.report(true);
  result->log_bytes = state.analysis.replay_bytes;
  result->trusted_segments = state.analysis.trusted_segments;
  result->checkpoint = checkpoint.number;
  result->checkpoint_bytes = checkpoint.bytes();
  result->new_database = result->entries == 0 && !checkpoint.exists();
  result->data_loss = state.data_loss();
  result->lost_blocks = state.lost_blocks;
  state.first_epoch = next(state.analysis.largest_seen);
  result->first_epoch = state.first_epoch;
  result->durable_epoch = state.analysis.largest_seen;
  return true;
}

// All that was given up, a line each.
std::string Wal::State::data_loss() const {
  std::string text = mark_given_up;
  auto add = [&](const std::string& line) {
    if (!text.empty() && !line.empty()) text += '\n';
    text += line;
  };
  add(analysis.data_loss);
  if (lost_blocks.empty()) return text;
  uint64_t blocks = 0;
  uint64_t records = 0;
  for (const LostBlock& lost : lost_blocks) {
    blocks += lost.blocks;
    records += lost.records;
  }
  add("damaged blocks of the checkpoint were left out: " + std::to_string(blocks) + " with " +
      std::to_string(records) + " records");
  return text;
}

// How far the logs should reach. With accept_data_loss it need not be known; then the rest tells
// what may be missing without anybody's noticing.
bool Wal::State::find_mark(std::string* why) {
  // Of another moment than what a backup label says.
  if (from_backup || find_progress(files, directory, control, &mark, why)) return true;
  if (!options.accept_data_loss) return false;
  mark_given_up = why->substr(0, why->find('\n'));
  return true;
}

// Trusting no segment if trust leads nowhere; or for the words' sake. A call that failed is not
// tried again: what it hid may not show the second time.
bool Wal::State::analyze(unsigned threads, RecoveryMeter& meter, std::string* why) {
  const ControlFile before = control;
  AnalyzerOptions whole{.threads = threads,
                        .accept_data_loss = options.accept_data_loss,
                        .mark = mark ? &*mark : nullptr};
  AnalyzerOptions trusting = whole;
  trusting.scan_all = options.accept_data_loss;
  if (analyze_logs(files, log_directories(), trusting, meter, &control, &analysis, why))
    return true;
  if (trusting.scan_all || analysis.call_failed) return false;
  control = before;
  analysis = {};
  return analyze_logs(files, log_directories(), whole, meter, &control, &analysis, why);
}

// A copy lacks what was not copied, or too early.
void Wal::State::blame_backup(std::string* why) const {
  if (from_backup) *why = "the backup is not whole, or damaged: " + *why;
}

// Why a restore failed that trusted segments: what a first pass over all of them says, if it fails.
void Wal::State::explain(ControlFile before, unsigned threads, std::string* why) {
  if (analysis.trusted_segments == 0) return;
  RecoveryMeter meter(clock, nullptr);
  LogAnalysis whole;
  std::string first;
  AnalyzerOptions all{.threads = threads, .mark = mark ? &*mark : nullptr};
  if (!analyze_logs(files, log_directories(), all, meter, &before, &whole, &first)) *why = first;
}

bool Wal::State::restore(const LiveRelations& live, unsigned threads, RecoveryMeter& meter,
                         RecoveryResult* result, std::string* why) {
  meter.expect_only(control.checkpoint.bytes() + analysis.system_bytes + analysis.replay_bytes);
  relations->raise_id_floor(RelationId(control.checkpoint.relation_id_floor));
  ReplayCounts counts;
  if (!restore_pass(RestoredRelations::of_system(), threads, meter, result, &counts, why))
    return false;
  // This one reads them all again.
  counts = {};
  if (!restore_pass(RestoredRelations::of_users(live), threads, meter, result, &counts, why))
    return false;
  checkpoint_files.clear();
  analysis.largest_seen = std::max(analysis.largest_seen, counts.largest_seen);
  analysis.replay_bytes = counts.bytes;
  result->records = counts.records;
  result->entries = replayed_entries = counts.entries;
  return true;
}

// The checkpoint's rows, then what the logs say of them.
bool Wal::State::restore_pass(const RestoredRelations& restored, unsigned threads,
                              RecoveryMeter& meter, RecoveryResult* result, ReplayCounts* counts,
                              std::string* why) {
  int64_t started_us = clock.now_us();
  if (!load_checkpoint(files, checkpoint_files, restored, threads, *relations, *reclaimer, meter,
                       &result->checkpoint_rows, losable(), why)) {
    return false;
  }
  int64_t loaded_us = clock.now_us();
  result->load_us += loaded_us - started_us;
  bool replayed =
      replay_logs(files, analysis, restored, threads, *relations, *reclaimer, meter, counts, why);
  result->replay_us += clock.now_us() - loaded_us;
  return replayed;
}

bool Wal::State::prepare_stores(std::string* why) {
  for (size_t i = 0; i < units.size(); ++i) {
    LogUnit& unit = units[i];
    unsigned workers =
        static_cast<unsigned>((options.workers + units.size() - 1 - i) / units.size());
    SegmentStoreOptions store{.directory = unit.directory->path(),
                              .log = unit.directory->log(),
                              .segment_bytes = options.segment_bytes,
                              .ring_bytes = options.buffer_bytes * workers,
                              .workers = workers,
                              .spare_segments = options.spare_segments,
                              .retired_bytes = options.checkpoints.max_log_bytes / units.size(),
                              .direct = options.sync_method == LogSyncMethod::direct};
    unit.segments = std::make_unique<SegmentStore>(files, store);
    FileResult result = unit.directory->remove_unfinished_segments();
    retire_segments(unit);
    if (result.ok())
      result = unit.segments->open(analysis.next_segment[i], analysis.empty_segments[i]);
    while (result.ok() && unit.segments->wants_segments()) result = unit.segments->prepare_one();
    // Fewer than wanted will do for now: while there are too few, writers are refused and readers
    // are not. The next one is where this incarnation begins.
    if (result.ok()) continue;
    std::string failure =
        "could not prepare log segments in \"" + unit.directory->path() + "\": " + result.text();
    if (unit.segments->ready() == 0) {
      *why = failure;
      return false;
    }
    write_server_log(LogLevel::warning, failure);
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
  commit = std::make_unique<GroupCommit>(*durable, all, static_cast<unsigned>(units.size()),
                                         control.incarnations.back().parent.durable);
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
                                               .incarnation = name_of(control.incarnations.back()),
                                               .started_us = begun_us,
                                               .flush_after_us = options.flush_after_us,
                                               .compress = options.compress});
    for (WorkerLog* log : own) log->set_logger(*units[i].logger);
    loggers.push_back(units[i].logger.get());
  }
  progress = std::make_unique<ProgressFile>(files, directory, control.database);
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
      .incarnation_id = control.incarnations.back().id,
      .logs = {},
      .walkers = std::max(1u, options.checkpoint_threads),
      .compress = options.compress_checkpoints,
  };
  for (const LogUnit& unit : units)
    parts.logs.push_back({unit.directory->log(), unit.logger.get()});
  const std::vector<CheckpointedLog> checkpointed = parts.logs;
  checkpointer = std::make_unique<Checkpointer>(
      std::move(parts), clock, control, *keeper,
      Checkpointer::Options{.schedule = options.checkpoints,
                            .taken_number = others_number,
                            .log_bytes_before = replayed_entries == 0 ? 0 : analysis.replay_bytes,
                            .segment_bytes_before = analysis.segment_bytes,
                            .announce = options.announce_checkpoints,
                            .slots = {.most = options.max_slots,
                                      .keep_bytes = options.slot_keep_bytes,
                                      .usual_bytes = options.checkpoints.max_log_bytes,
                                      .first_epoch = first_epoch,
                                      .found = slots}});
  keeper->set_listener(checkpointer.get());
  if (!lost_blocks.empty()) checkpointer->repair();
  build_scrubber(checkpointed);
}

void Wal::State::build_scrubber(const std::vector<CheckpointedLog>& checkpointed) {
  scrubber =
      std::make_unique<Scrubber>(Scrubber::Parts{.files = files,
                                                 .clock = clock,
                                                 .checkpointer = *checkpointer,
                                                 .data_directory = directory,
                                                 .directories = options.checkpoint_directories,
                                                 .database = control.database,
                                                 .logs = checkpointed,
                                                 .interval_us = options.scrub_interval_us},
                                 control.checkpoint);
  checkpointer->set_watcher(scrubber.get());
}

void Wal::State::retire_segments(const LogUnit& unit) const {
  const LogCut* cut = control.checkpoint.cut_of(unit.directory->log());
  uint64_t first_needed = cut == nullptr ? 0 : cut->segment;
  for (const LogSlot& slot : slots)
    first_needed = std::min(first_needed, first_kept(slot, unit.directory->log()));
  static_cast<void>(unit.segments->retire_below(first_needed));
}

// An earlier process may have replaced the control file and died before its directory was synced.
// What the one before names is removed only when this one is sure to be found.
bool Wal::State::make_control_durable(std::string* why) {
  FileResult result = files.sync_directory(directory);
  if (result.ok()) return true;
  *why = "could not sync directory \"" + directory + "\": " + result.text();
  return false;
}

// From here on the control file says what counts. Before anything is logged: a start that found the
// label once more would not know of it.
bool Wal::State::leave_backup_label(std::string* why) {
  if (!from_backup) return true;
  FileResult result = put_label_away(files, directory);
  if (result.ok()) return true;
  *why = "could not rename backup label in \"" + directory + "\": " + result.text();
  return false;
}

bool Wal::start(EpochManager& epochs, DurableEpoch& durable, std::string* why) {
  State& state = *state_;
  PGSILO_CHECK(epochs.current() >= state.first_epoch && durable.get() < epochs.current());
  state.epochs = &epochs;
  state.durable = &durable;
  if (!state.make_control_durable(why) || !state.open_checkpoint_directories(why)) return false;
  if (!state.find_slots(why)) return false;
  // Nothing of what is found is refused from here on; and the device may be full of what nobody
  // needs.
  state.remove_stale_checkpoints();
  if (!state.mark_copy(why)) return false;
  if (state.analysis.close_first && !state.save_control(why)) return false;
  if (!state.prepare_stores(why)) return false;
  state.control.incarnations.push_back(state.next_incarnation());
  state.control.last_incarnation = state.control.incarnations.back().number;
  add_own_start(state.control, {.id = state.control.incarnations.back().id});
  state.begun_us = std::max(state.analysis.newest_time_us, known_unix_time_us());
  state.build_loggers();
  state.build_checkpointer();
  return state.begin_logs(why) && state.save_control(why) && state.leave_backup_label(why);
}

void Wal::start_threads() {
  state_->threads = true;
  state_->keeper->start();
  for (LogUnit& unit : state_->units) unit.logger->start();
  std::string why;  // is told already; it is tried again
  if (state_->checkpointer->is_overdue())
    static_cast<void>(state_->checkpointer->run_now(CheckpointReason::recovery, &why));
  state_->checkpointer->start();
  state_->scrubber->start();
}

void Wal::stop() {
  State& state = *state_;
  Epoch last = state.epochs->current();
  wait_durable(0, last);
  state.scrubber->stop();
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
  for (unsigned logger = 0; logger < state.commit->loggers(); ++logger)
    PGSILO_CHECK(state.commit->last_data(logger, Epoch(UINT64_MAX)) <= incarnation.durable);
  // If it fails, the next start takes it for a crash: nothing is lost.
  static_cast<void>(state.save_control(&why));
}

unsigned Wal::workers() const { return state_->options.workers; }
RedoSink& Wal::worker_log(unsigned worker) { return *state_->logs[worker]; }
void Wal::set_listener(unsigned worker, DurableListener* listener) {
  state_->commit->set_listener(worker, listener);
}
void Wal::pass_on(unsigned worker) { state_->commit->pass_on(worker); }
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
const LogSlots& Wal::slots() const { return state_->checkpointer->slots(); }
Scrubber& Wal::scrubber() { return *state_->scrubber; }
const Scrubber& Wal::scrubber() const { return *state_->scrubber; }
const CheckpointHistory& Wal::checkpoints() const { return state_->checkpointer->history(); }

WalStatus Wal::status() const {
  WalStatus status;
  status.current_epoch = state_->epochs->current();
  status.durable_epoch = state_->durable->get();
  status.recorded_epoch = state_->commit->recorded();
  for (const LogUnit& unit : state_->units) {
    LogStatus log = unit.logger->status();
    log.prepared_segments = unit.segments->ready();
    log.retired_segments = unit.segments->retired();
    log.live_segments = unit.segments->live();
    if (unit.segments->state() == LogSpace::ample && state_->checkpointer->space_is_low())
      log.space = "low";
    status.syncs += log.syncs;
    status.bytes_written += log.bytes_written;
    status.bytes_saved += log.bytes_saved;
    status.segments_prepared += unit.segments->prepared();
    status.out_of_space |= unit.segments->state() == LogSpace::exhausted;
    status.logs.push_back(std::move(log));
  }
  return status;
}

}  // namespace pgsilo
