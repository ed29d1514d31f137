#include "wal/wal.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/check.h"
#include "base/clock.h"
#include "base/file.h"
#include "storage/epoch/durable_epoch.h"
#include "storage/epoch/epoch_manager.h"
#include "storage/relation/relation_directory.h"
#include "wal/layout/control_file.h"
#include "wal/layout/log_directory.h"
#include "wal/log/group_commit.h"
#include "wal/log/logger.h"
#include "wal/log/segment_keeper.h"
#include "wal/log/segment_store.h"
#include "wal/log/worker_log.h"
#include "wal/recovery/log_analyzer.h"
#include "wal/recovery/recovery_meter.h"
#include "wal/recovery/replay.h"

namespace pgsilo {

// One log directory with its logger.
struct LogUnit {
  std::unique_ptr<LogDirectory> directory;
  std::unique_ptr<SegmentStore> segments;
  std::unique_ptr<Logger> logger;
};

struct Wal::State {
  State(FileSystem& files, const Clock& clock, std::string directory, WalOptions options)
      : files(files), clock(clock), directory(std::move(directory)), options(std::move(options)) {}

  FileSystem& files;
  const Clock& clock;
  std::string directory;
  WalOptions options;
  std::unique_ptr<File> lock;
  ControlFile control;
  bool new_database = false;
  LogAnalysis analysis;
  Epoch first_epoch;
  RelationDirectory* relations = nullptr;
  Reclaimer* reclaimer = nullptr;

  EpochManager* epochs = nullptr;
  DurableEpoch* durable = nullptr;
  // In the order in which they are built; logs outlive loggers.
  std::vector<LogUnit> units;
  std::vector<std::unique_ptr<WorkerLog>> logs;
  std::unique_ptr<GroupCommit> commit;
  std::unique_ptr<SegmentKeeper> keeper;
  bool threads = false;

  Logger& logger_of(unsigned worker) { return *units[worker % units.size()].logger; }
  bool may_initialise(std::string* why) const;
  bool open_logs(std::string* why);
  bool find_named_logs(std::string* why);
  bool save_control(std::string* why);
  bool prepare_stores(std::string* why);
  void build_loggers();
  Incarnation next_incarnation() const;
};

namespace {

std::string options_fault(const WalOptions& options) {
  if (options.log_directories.empty()) return "log_directories names no directory";
  if (options.log_directories.size() > log_format::max_loggers)
    return "log_directories names more than 64 directories";
  if (options.workers == 0) return "there must be a worker";
  if (options.buffer_bytes < (size_t{64} << 10) ||
      (options.buffer_bytes & (options.buffer_bytes - 1)) != 0) {
    return "a log buffer's size must be a power of two of at least 64 KiB";
  }
  if (options.segment_bytes < log_format::min_segment_bytes ||
      options.segment_bytes % log_format::segment_granule != 0) {
    return "a log segment's size must be a multiple of 64 KiB of at least 256 KiB";
  }
  return "";
}

bool read_control(FileSystem& files, const std::string& directory, ControlFile* control,
                  bool* missing, std::string* why) {
  std::string path = join_path(directory, control_file_name);
  *missing = false;
  switch (read_control_file(files, directory, control)) {
    case ControlRead::ok:
      return true;
    case ControlRead::missing:
      *missing = true;
      return true;
    case ControlRead::unreadable:
      *why = "could not read control file \"" + path + "\"";
      return false;
    case ControlRead::damaged:
      *why = "control file \"" + path + "\" is damaged";
      return false;
    case ControlRead::other_version:
      *why = "control file \"" + path + "\" was written by another version of pgsilo";
      return false;
  }
  return false;
}

}  // namespace

std::unique_ptr<Wal> Wal::open(FileSystem& files, const Clock& clock,
                               const std::string& data_directory, const WalOptions& options,
                               std::string* why) {
  *why = options_fault(options);
  if (!why->empty()) return nullptr;
  std::unique_ptr<State> state(new State(files, clock, data_directory, options));
  FileResult result = files.create_directory(data_directory);
  if (result.ok()) result = files.sync_directory(parent_path(data_directory));
  if (!result.ok() && result.status != FileStatus::already_exists) {
    *why = "could not create directory \"" + data_directory + "\": " + result.text();
    return nullptr;
  }
  state->lock = lock_data_directory(files, data_directory, why);
  if (state->lock == nullptr) return nullptr;
  if (!read_control(files, data_directory, &state->control, &state->new_database, why))
    return nullptr;
  if (!state->open_logs(why)) return nullptr;
  return std::unique_ptr<Wal>(new Wal(std::move(state)));
}

Wal::Wal(std::unique_ptr<State> state) : state_(std::move(state)) {}

Wal::~Wal() {
  if (state_->keeper == nullptr) return;
  for (LogUnit& unit : state_->units) unit.logger->stop();
  state_->keeper->stop();
}

bool Wal::State::may_initialise(std::string* why) const {
  std::vector<std::string> names;
  FileResult result = files.list(directory, &names);
  if (!result.ok()) {
    *why = "could not read directory \"" + directory + "\": " + result.text();
    return false;
  }
  if (std::find(names.begin(), names.end(), "PG_VERSION") == names.end()) return true;
  *why = "directory \"" + directory +
         "\" holds a database of PostgreSQL\nHint: Load a dump of it into an empty directory.";
  return false;
}

bool Wal::State::open_logs(std::string* why) {
  if (new_database && !may_initialise(why)) return false;
  for (const std::string& name : options.log_directories) {
    LogUnit unit;
    unit.directory = std::make_unique<LogDirectory>(files, join_path(directory, name));
    if (!unit.directory->open(why)) return false;
    for (const LogUnit& other : units) {
      bool same = unit.directory->has_identity() && unit.directory->log() == other.directory->log();
      if (!same && unit.directory->path() != other.directory->path()) continue;
      *why = "log directories \"" + other.directory->path() + "\" and \"" + unit.directory->path() +
             "\" are the same";
      return false;
    }
    units.push_back(std::move(unit));
  }
  if (new_database) {
    for (const LogUnit& unit : units) {
      if (!unit.directory->has_identity()) continue;
      // Initialisation may have been cut short before the control file was there; then no segment
      // was.
      std::vector<uint64_t> segments;
      FileResult result = unit.directory->list_segments(&segments);
      if (!result.ok() || !segments.empty()) {
        *why = "log directory \"" + unit.directory->path() + "\" belongs to a database, but \"" +
               directory + "\" has no control file";
        return false;
      }
      control.database = unit.directory->database();
    }
    if (control.database == Uuid{}) control.database = Uuid::generate();
  }
  if (!find_named_logs(why)) return false;
  for (LogUnit& unit : units) {
    if (!unit.directory->has_identity() && !unit.directory->initialise(control.database, why)) {
      return false;
    }
  }
  // From here on there is a database, before there is a segment.
  return !new_database || save_control(why);
}

bool Wal::State::save_control(std::string* why) {
  FileResult result = write_control_file(files, directory, control);
  if (result.ok()) return true;
  *why = "could not write control file in \"" + directory + "\": " + result.text();
  return false;
}

// Every log that an incarnation named is here, and no other database's.
bool Wal::State::find_named_logs(std::string* why) {
  for (const LogUnit& unit : units) {
    if (!unit.directory->has_identity() || unit.directory->database() == control.database) continue;
    *why = "log directory \"" + unit.directory->path() + "\" belongs to another database (" +
           unit.directory->database().text() + ", not " + control.database.text() + ")";
    return false;
  }
  for (const Incarnation& incarnation : control.incarnations) {
    for (const LogIdentity& log : incarnation.logs) {
      bool found = std::any_of(units.begin(), units.end(), [&](const LogUnit& unit) {
        return unit.directory->log() == log.log;
      });
      if (found) continue;
      *why = "log directory \"" + log.path + "\" (" + log.log.text() +
             ") is missing: part of the database's log is in it\nHint: Name it in log_directories.";
      return false;
    }
  }
  return true;
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
  AnalyzerOptions options{.threads = threads, .accept_data_loss = state.options.accept_data_loss};
  if (!analyze_logs(state.files, directories, options, meter, &state.control, &state.analysis, why))
    return false;
  ReplayCounts counts;
  if (!replay_logs(state.files, state.analysis, threads, relations, reclaimer, meter, &counts, why))
    return false;
  meter.report(true);
  result->records = counts.records;
  result->entries = counts.entries;
  result->log_bytes = state.analysis.replay_bytes;
  result->new_database = counts.entries == 0;
  result->data_loss = state.analysis.data_loss;
  state.first_epoch = next(state.analysis.largest_seen);
  result->first_epoch = state.first_epoch;
  result->durable_epoch = state.analysis.largest_seen;
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
  return true;
}

void Wal::start_threads() {
  state_->threads = true;
  state_->keeper->start();
  for (LogUnit& unit : state_->units) unit.logger->start();
}

void Wal::stop() {
  State& state = *state_;
  Epoch last = state.epochs->current();
  wait_durable(0, last);
  for (LogUnit& unit : state.units) unit.logger->stop();
  state.keeper->stop();
  state.threads = false;
  Incarnation& incarnation = state.control.incarnations.back();
  incarnation.closed = incarnation.clean = true;
  incarnation.durable = state.commit->recorded();
  for (Epoch data : state.commit->last_data(Epoch(UINT64_MAX)))
    PGSILO_CHECK(data <= incarnation.durable);
  // If it fails, the next start takes it for a crash: nothing is lost.
  std::string why;
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
