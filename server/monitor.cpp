#include "server/monitor.h"

#include <algorithm>
#include <array>

#include "base/append.h"
#include "base/clock.h"
#include "base/long_work.h"
#include "server/server_memory.h"
#include "server/session/session_registry.h"
#include "sql/types/date_time.h"
#include "storage/transaction/lock_list.h"
#include "storage/transaction/record_lock.h"
#include "storage/transaction/snapshot_registry.h"
#include "wal/checkpoint/checkpoint_history.h"
#include "wal/checkpoint/log_slots.h"
#include "wal/recovery/scrubber.h"
#include "wal/wal.h"

namespace pgsilo {
namespace {

int64_t in_postgres_time(int64_t unix_us) {
  return unix_us - postgres_epoch_unix_seconds * usecs_per_second;
}

std::string_view name_of(CheckpointInfo::State state) {
  constexpr std::array<std::string_view, 3> names = {"running", "complete", "failed"};
  return names[static_cast<size_t>(state)];
}

std::string_view name_of(CheckpointReason reason) {
  constexpr std::array<std::string_view, 6> names = {"time",   "wal",      "request",
                                                     "damage", "shutdown", "recovery"};
  return names[static_cast<size_t>(reason)];
}

std::string_view name_of(CheckpointPhase phase) {
  constexpr std::array<std::string_view, checkpoint_phases> names = {"settling", "writing",
                                                                     "syncing", "log wait"};
  return names[static_cast<size_t>(phase)];
}

double milliseconds(int64_t us) { return static_cast<double>(us) / 1000; }

LockInfo::Kind kind_of(const LockEntry& entry) {
  switch (entry.tag.kind) {
    case LockTag::Kind::record:
      break;
    case LockTag::Kind::relation:
      return LockInfo::Kind::relation;
    case LockTag::Kind::advisory_bigint:
      return LockInfo::Kind::advisory_bigint;
    case LockTag::Kind::advisory_pair:
      return LockInfo::Kind::advisory_pair;
  }
  return LockInfo::Kind::record;
}

}  // namespace

Monitor::Monitor(SessionRegistry& sessions, LockTable& locks)
    : sessions_(sessions), locks_(locks) {}

bool Monitor::cancel(int32_t process) { return sessions_.cancel(process); }

bool Monitor::terminate(int32_t process) { return sessions_.terminate(process); }

bool Monitor::has_session(int32_t process) const { return sessions_.has(process); }

std::vector<SessionInfo> Monitor::sessions() const { return sessions_.list(); }

DatabaseStatistics Monitor::counted() const {
  DatabaseStatistics sum;
  for (const WorkerStatistics* worker : workers_) worker->add_to(sum);
  return sum;
}

DatabaseStatistics Monitor::database_statistics() const {
  std::lock_guard lock(reset_mutex_);
  DatabaseStatistics since = counted();
  const DatabaseStatistics& before = before_reset_;
  since.commits -= before.commits;
  since.rollbacks -= before.rollbacks;
  since.rows_inserted -= before.rows_inserted;
  since.rows_updated -= before.rows_updated;
  since.rows_deleted -= before.rows_deleted;
  since.deadlocks -= before.deadlocks;
  since.sessions -= before.sessions;
  since.sessions_abandoned -= before.sessions_abandoned;
  since.sessions_fatal -= before.sessions_fatal;
  since.sessions_killed -= before.sessions_killed;
  since.temporary_files -= before.temporary_files;
  since.temporary_bytes -= before.temporary_bytes;
  since.reset_time = before.reset_time;
  return since;
}

std::vector<StatementStatistics> Monitor::statement_statistics() const {
  StatementTable::Sums sums;
  for (const WorkerStatistics* worker : workers_) worker->statements.add_to(sums);
  std::vector<StatementStatistics> statements;
  statements.reserve(sums.size());
  for (auto& [id, statement] : sums) statements.push_back(std::move(statement));
  return statements;
}

void Monitor::reset_statistics() {
  std::lock_guard lock(reset_mutex_);
  before_reset_ = counted();
  before_reset_.reset_time = in_postgres_time(unix_time_us());
  for (WorkerStatistics* worker : workers_) worker->statements.clear();
}

void Monitor::set_log(const Wal& wal, const RecoveryResult& recovered) {
  wal_ = &wal;
  int64_t now = in_postgres_time(unix_time_us());
  log_before_reset_.reset_time = checkpoints_before_reset_.reset_time = now;
  recovery_ = {.started = now - recovered.analysis_us - recovered.load_us - recovered.replay_us,
               .new_database = recovered.new_database,
               .clean_shutdown = recovered.clean_shutdown,
               .checkpoint = recovered.checkpoint,
               .checkpoint_bytes = static_cast<int64_t>(recovered.checkpoint_bytes),
               .checkpoint_records = static_cast<int64_t>(recovered.checkpoint_rows),
               .checkpoint_seconds = static_cast<double>(recovered.load_us) / 1e6,
               .log_bytes = static_cast<int64_t>(recovered.log_bytes),
               .records = static_cast<int64_t>(recovered.records),
               .entries = static_cast<int64_t>(recovered.entries),
               .analysis_seconds = static_cast<double>(recovered.analysis_us) / 1e6,
               .replay_seconds = static_cast<double>(recovered.replay_us) / 1e6,
               .durable_epoch = recovered.durable_epoch.value(),
               .data_loss = recovered.data_loss};
}

LogStatistics Monitor::logged() const {
  LogStatistics sum;
  for (const LogStatus& log : wal_->status().logs) {
    sum.records += static_cast<int64_t>(log.records);
    sum.record_bytes += static_cast<int64_t>(log.record_bytes);
    sum.buffer_waits += static_cast<int64_t>(log.buffer_waits);
    sum.writes += static_cast<int64_t>(log.writes);
    sum.syncs += static_cast<int64_t>(log.syncs);
    sum.write_ms += static_cast<double>(log.write_us) / 1000;
    sum.sync_ms += static_cast<double>(log.sync_us) / 1000;
  }
  return sum;
}

LogStatistics Monitor::log_statistics() const {
  std::lock_guard lock(reset_mutex_);
  LogStatistics since = logged();
  const LogStatistics& before = log_before_reset_;
  since.records -= before.records;
  since.record_bytes -= before.record_bytes;
  since.buffer_waits -= before.buffer_waits;
  since.writes -= before.writes;
  since.syncs -= before.syncs;
  since.write_ms -= before.write_ms;
  since.sync_ms -= before.sync_ms;
  since.reset_time = before.reset_time;
  return since;
}

void Monitor::reset_log_statistics() {
  std::lock_guard lock(reset_mutex_);
  log_before_reset_ = logged();
  log_before_reset_.reset_time = in_postgres_time(unix_time_us());
}

std::vector<LogInfo> Monitor::logs() const {
  WalStatus status = wal_->status();
  std::vector<LogInfo> infos;
  infos.reserve(status.logs.size());
  for (const LogStatus& log : status.logs) {
    infos.push_back({.directory = log.directory,
                     .live_segments = static_cast<int64_t>(log.live_segments),
                     .prepared_segments = static_cast<int64_t>(log.prepared_segments),
                     .bytes_written = static_cast<int64_t>(log.bytes_written),
                     .syncs = static_cast<int64_t>(log.syncs),
                     .mean_sync_ms = log.mean_sync_us / 1000,
                     .median_sync_ms = log.median_sync_us / 1000,
                     .p99_sync_ms = log.p99_sync_us / 1000,
                     .max_sync_ms = log.max_sync_us / 1000,
                     .current_epoch = status.current_epoch.value(),
                     .durable_epoch = status.durable_epoch.value(),
                     .recorded_epoch = status.recorded_epoch.value(),
                     .space = std::string(log.space)});
  }
  return infos;
}

std::vector<SlotInfo> Monitor::slots() const {
  const LogSlots& slots = wal_->slots();
  std::vector<SlotInfo> infos;
  for (const SlotStatus& status : slots.status()) {
    bool keeps = status.slot.reserved && !status.slot.lost;
    bool limited = keeps && slots.keep_bytes() != UINT64_MAX;
    infos.push_back({.name = status.slot.name,
                     .owner = status.slot.owner,
                     .restart = keeps ? status.slot.restart.value() : 0,
                     .availability = std::string(status.availability),
                     .lost = status.slot.lost,
                     .safe_bytes = limited ? static_cast<int64_t>(
                                                 slots.keep_bytes() -
                                                 std::min(status.kept_bytes, slots.keep_bytes()))
                                           : -1});
  }
  return infos;
}

CheckpointStatistics Monitor::checkpointed() const {
  CheckpointStatus status = wal_->checkpoints().status();
  return {.timed = static_cast<int64_t>(status.made_by_time),
          .requested = static_cast<int64_t>(status.made - status.made_by_time),
          .bytes = static_cast<int64_t>(status.bytes),
          .write_ms = milliseconds(status.walk_us),
          .sync_ms = milliseconds(status.sync_us)};
}

CheckpointStatistics Monitor::checkpoint_statistics() const {
  std::lock_guard lock(reset_mutex_);
  CheckpointStatistics since = checkpointed();
  const CheckpointStatistics& before = checkpoints_before_reset_;
  since.timed -= before.timed;
  since.requested -= before.requested;
  since.bytes -= before.bytes;
  since.write_ms -= before.write_ms;
  since.sync_ms -= before.sync_ms;
  since.reset_time = before.reset_time;
  return since;
}

void Monitor::reset_checkpoint_statistics() {
  std::lock_guard lock(reset_mutex_);
  checkpoints_before_reset_ = checkpointed();
  checkpoints_before_reset_.reset_time = in_postgres_time(unix_time_us());
}

std::vector<CheckpointRow> Monitor::checkpoints() const {
  std::vector<CheckpointRow> rows;
  for (CheckpointInfo& info : wal_->checkpoints().list()) {
    bool complete = info.state == CheckpointInfo::State::complete;
    rows.push_back({.number = static_cast<int64_t>(info.number),
                    .state = name_of(info.state),
                    .cause = name_of(info.reason),
                    .phase = complete ? std::string_view() : name_of(info.phase),
                    .started = in_postgres_time(info.started_unix_us),
                    .ended = info.ended_unix_us == 0 ? 0 : in_postgres_time(info.ended_unix_us),
                    .rows = static_cast<int64_t>(info.records),
                    .bytes = static_cast<int64_t>(info.bytes),
                    .planned_bytes = static_cast<int64_t>(info.planned_bytes),
                    .walked_bytes = static_cast<int64_t>(info.walked_bytes),
                    .settle_ms = milliseconds(info.us(CheckpointPhase::settling)),
                    .write_ms = milliseconds(info.us(CheckpointPhase::walking)),
                    .sync_ms = milliseconds(info.us(CheckpointPhase::finishing)),
                    .log_wait_ms = milliseconds(info.us(CheckpointPhase::becoming_durable)),
                    .total_ms = milliseconds(info.total_us),
                    .begun_epoch = info.begun.value(),
                    .ended_epoch = info.ended.value(),
                    .log_bytes = static_cast<int64_t>(info.log_bytes),
                    .retired_log_bytes = static_cast<int64_t>(info.retired_log_bytes),
                    .failure = std::move(info.failure)});
  }
  return rows;
}

ScrubInfo Monitor::scrub() const {
  ScrubStatus status = wal_->scrubber().status();
  auto time = [](int64_t unix_us) { return unix_us == 0 ? 0 : in_postgres_time(unix_us); };
  return {.running = status.running,
          .passes = static_cast<int64_t>(status.passes),
          .started = time(status.started_unix_us),
          .ended = time(status.ended_unix_us),
          .checkpoint_bytes = static_cast<int64_t>(status.checkpoint_bytes),
          .log_bytes = static_cast<int64_t>(status.log_bytes),
          .damaged = static_cast<int64_t>(status.damaged),
          .unreadable = static_cast<int64_t>(status.unreadable),
          .last_fault = std::move(status.last_fault),
          .last_fault_time = time(status.last_fault_unix_us),
          .repairs = static_cast<int64_t>(status.repairs)};
}

MemoryInfo Monitor::memory() const { return memory_->info(); }

std::vector<LockInfo> Monitor::locks() const {
  std::unordered_map<const LockOwner*, int32_t> processes = sessions_.lock_owners();
  std::vector<LockInfo> infos;
  WorkMeter meter;
  for (const LockEntry& entry : locks_.list()) {
    meter.did(sizeof(LockInfo));
    LockInfo info;
    if (auto found = processes.find(entry.owner); found != processes.end())
      info.process = found->second;
    info.kind = kind_of(entry);
    info.relation = entry.relation.value();
    if (!entry.tag.is_relation() && !entry.tag.is_record()) info.number = entry.tag.value;
    info.mode = name_of(entry.mode);
    info.granted = entry.granted;
    if (entry.waiting_since_us != 0) info.wait_start = in_postgres_time(entry.waiting_since_us);
    append(infos, info);
  }
  return infos;
}

std::vector<SnapshotInfo> Monitor::snapshots() const {
  std::vector<SessionInfo> sessions = sessions_.list();
  std::vector<SnapshotInfo> infos;
  for (const SnapshotRegistry::Entry& entry : snapshots_->list()) {
    SnapshotInfo info;
    info.boundary = entry.boundary.value();
    info.opened = in_postgres_time(entry.opened_us);
    info.kept_versions = static_cast<int64_t>(entry.kept.versions);
    info.kept_bytes = static_cast<int64_t>(entry.kept.bytes);
    size_t before = infos.size();
    for (const SessionInfo& session : sessions) {
      if (session.snapshot != info.boundary) continue;
      info.process = session.process;
      infos.push_back(info);
    }
    if (infos.size() == before) infos.push_back(info);
  }
  return infos;
}

std::vector<int32_t> Monitor::blockers(int32_t process) const {
  std::unordered_map<const LockOwner*, int32_t> processes = sessions_.lock_owners();
  std::vector<LockEntry> entries = locks_.list();
  std::vector<int32_t> found;
  WorkMeter meter;
  for (const LockEntry& wait : entries) {
    meter.did(sizeof(LockEntry));
    auto waiter = processes.find(wait.owner);
    if (wait.granted || waiter == processes.end() || waiter->second != process) continue;
    for (const LockEntry& other : entries) {
      if (&other == &wait) break;  // those behind it in the queue
      if (other.owner == wait.owner || !stands_in_the_way(other, wait)) continue;
      auto blocker = processes.find(other.owner);
      found.push_back(blocker == processes.end() ? 0 : blocker->second);
    }
  }
  return found;
}

}  // namespace pgsilo
