// Rows about the server itself: the functions under pg_stat_activity and its kin.
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/append.h"
#include "base/arena.h"
#include "base/long_work.h"
#include "catalog/builtin/builtin.h"
#include "catalog/catalog_snapshot.h"
#include "catalog/catalog_view.h"
#include "catalog/system_tables.h"
#include "executor/execution_context.h"
#include "executor/operator/column_statistics.h"
#include "executor/operator/set_function.h"
#include "executor/relation_memory.h"
#include "executor/server_monitor.h"
#include "executor/session_backup.h"
#include "executor/session_slots.h"
#include "executor/session_statements.h"
#include "sql/sql_error.h"
#include "sql/types/array.h"
#include "sql/types/lsn.h"
#include "sql/types/numeric.h"

namespace pgsilo {
namespace {

// One row under construction: values in the order of the function's columns.
class RowBuilder {
 public:
  RowBuilder(std::vector<Datum>& values, Arena& arena) : values_(values), arena_(arena) {}

  RowBuilder& null() { return put(Datum()); }
  RowBuilder& integer(int64_t value) { return put(Datum::of_int(value)); }
  RowBuilder& real(double value) { return put(Datum::of_float(value)); }
  RowBuilder& numeric(int64_t value) { return put(numeric_from_integer(value, arena_)); }
  RowBuilder& lsn(uint64_t value) { return put(datum_of_lsn(value)); }
  RowBuilder& datum(Datum value) { return put(value); }
  RowBuilder& boolean(bool value) { return put(Datum::of_bool(value)); }
  RowBuilder& text(std::string_view value) {
    return put(Datum::of_bytes(arena_.copy_string(value)));
  }
  // Null when it is empty.
  RowBuilder& text_or_null(std::string_view value) { return value.empty() ? null() : text(value); }
  // Null when it is 0.
  RowBuilder& integer_or_null(int64_t value) { return value == 0 ? null() : integer(value); }

 private:
  RowBuilder& put(Datum value) {
    append(values_, value);
    return *this;
  }

  std::vector<Datum>& values_;
  Arena& arena_;
};

struct WaitName {
  std::string_view type;
  std::string_view event;
};

WaitName name_of(WaitEvent event) {
  switch (event) {
    case WaitEvent::none:
      return {};
    case WaitEvent::client_read:
      return {"Client", "ClientRead"};
    case WaitEvent::client_write:
      return {"Client", "ClientWrite"};
    case WaitEvent::record_lock:
      return {"Lock", "tuple"};
    case WaitEvent::relation_lock:
      return {"Lock", "relation"};
    case WaitEvent::advisory_lock:
      return {"Lock", "advisory"};
    case WaitEvent::commit:
      return {"IPC", "Commit"};
    case WaitEvent::log_buffer:
      return {"IO", "WALWrite"};
    case WaitEvent::log_sync:
      return {"IO", "WALSync"};
    case WaitEvent::pg_sleep:
      return {"Timeout", "PgSleep"};
    case WaitEvent::retry_delay:
      return {"Timeout", "RetryDelay"};
    case WaitEvent::checkpoint_done:
      return {"IPC", "CheckpointDone"};
    case WaitEvent::parse:
      return {"IPC", "Parse"};
    case WaitEvent::spill_read:
      return {"IO", "BufFileRead"};
    case WaitEvent::spill_write:
      return {"IO", "BufFileWrite"};
    case WaitEvent::backend_termination:
      return {"IPC", "BackendTermination"};
  }
  return {};
}

std::string_view name_of(SessionInfo::State state) {
  switch (state) {
    case SessionInfo::State::active:
      return "active";
    case SessionInfo::State::idle:
      return "idle";
    case SessionInfo::State::idle_in_transaction:
      return "idle in transaction";
    case SessionInfo::State::idle_in_failed_transaction:
      return "idle in transaction (aborted)";
  }
  return {};
}

using Fill = void (*)(ExecutionContext& session, const Datum* arguments, std::vector<Datum>& values,
                      Arena& arena);

void fill_activity(ExecutionContext& session, const Datum* arguments, std::vector<Datum>& values,
                   Arena& arena) {
  // As in PostgreSQL, -1 stands for all too.
  bool all = arguments[0].null || arguments[0].i64 == -1;
  for (const SessionInfo& info : session.monitor->sessions()) {
    if (!all && arguments[0].i64 != info.process) continue;
    RowBuilder row(values, arena);
    row.integer(system_oid::database_postgres).integer(info.process);
    // There is one role in the catalog.
    row.integer_or_null(info.user == "postgres" ? system_oid::role_postgres : invalid_oid);
    WaitName wait = name_of(info.wait);
    row.text(info.application_name).text(name_of(info.state)).text(info.query);
    row.text_or_null(wait.type).text_or_null(wait.event);
    row.integer_or_null(info.transaction_start).integer_or_null(info.query_start);
    row.integer(info.backend_start).integer_or_null(info.state_change);
    row.text_or_null(info.client_address).null().integer(info.client_port);
    row.null().null();  // no numbers for transactions
    row.text("client backend").null().integer_or_null(static_cast<int64_t>(info.query_id));
    row.text(info.user).integer_or_null(info.pin_start);
  }
}

void fill_database(ExecutionContext& session, const Datum*, std::vector<Datum>& values,
                   Arena& arena) {
  DatabaseStatistics all = session.monitor->database_statistics();
  auto sessions = static_cast<int64_t>(session.monitor->sessions().size());
  RowBuilder(values, arena)
      .integer(system_oid::database_postgres)
      .integer(sessions)
      .integer(all.commits)
      .integer(all.rollbacks)
      .integer(all.rows_inserted)
      .integer(all.rows_updated)
      .integer(all.rows_deleted)
      .integer(all.temporary_files)
      .integer(all.temporary_bytes)
      .integer(all.deadlocks)
      .integer(all.sessions)
      .integer(all.sessions_abandoned)
      .integer(all.sessions_fatal)
      .integer(all.sessions_killed)
      .integer_or_null(all.reset_time);
}

void fill_statements(ExecutionContext& session, const Datum*, std::vector<Datum>& values,
                     Arena& arena) {
  for (const StatementStatistics& statement : session.monitor->statement_statistics()) {
    const AbortCounters& aborts = statement.aborts;
    RowBuilder(values, arena)
        .integer(static_cast<int64_t>(statement.id))
        .text(statement.text)
        .integer(statement.calls)
        .integer(statement.retries)
        .integer(statement.failures)
        .integer(aborts.record)
        .integer(aborts.node)
        .integer(aborts.lock)
        .integer(aborts.unique)
        .integer(aborts.relation)
        .integer(aborts.intent)
        .integer(aborts.deadlock)
        .integer(statement.exclusive_runs);
  }
}

void fill_sessions(ExecutionContext& session, const Datum*, std::vector<Datum>& values,
                   Arena& arena) {
  for (const SessionInfo& info : session.monitor->sessions())
    RowBuilder(values, arena).integer(info.process).integer(info.worker).integer(info.moves);
}

void fill_prepared_statements(ExecutionContext& session, const Datum*, std::vector<Datum>& values,
                              Arena& arena) {
  if (session.statements == nullptr) return;
  for (const PreparedStatementInfo& statement : session.statements->list()) {
    std::vector<Datum> types;
    types.reserve(statement.parameter_types.size());
    for (Oid type : statement.parameter_types) types.push_back(Datum::of_int(type));
    RowBuilder(values, arena)
        .text(statement.name)
        .text(statement.text)
        .integer(statement.prepared_us)
        .datum(make_array(type_oid::regtype, types, arena))
        .boolean(statement.from_sql)
        .integer(static_cast<int64_t>(statement.generic_plans))
        .integer(static_cast<int64_t>(statement.custom_plans));
  }
}

void fill_cursors(ExecutionContext& session, const Datum*, std::vector<Datum>& values,
                  Arena& arena) {
  if (session.cursors == nullptr) return;
  for (const CursorInfo& cursor : session.cursors->cursors()) {
    RowBuilder(values, arena)
        .text(cursor.name)
        .text(cursor.text)
        .boolean(cursor.is_holdable)
        .boolean(cursor.is_binary)
        .boolean(cursor.scrolls)
        .integer(cursor.declared_us);
  }
}

void fill_snapshots(ExecutionContext& session, const Datum*, std::vector<Datum>& values,
                    Arena& arena) {
  for (const SnapshotInfo& snapshot : session.monitor->snapshots()) {
    RowBuilder(values, arena)
        .integer(static_cast<int64_t>(snapshot.boundary))
        .integer_or_null(snapshot.process)
        .integer(snapshot.opened)
        .integer(snapshot.kept_versions)
        .integer(snapshot.kept_bytes);
  }
}

// The OIDs of trees: a table's for the one of its rows, an index's for the one of its entries. A
// tree that no table has (any more) is not in it.
std::unordered_map<uint32_t, Oid> oids_of_trees(const CatalogSnapshot& catalog) {
  std::unordered_map<uint32_t, Oid> oids;
  for (const auto& [oid, table] : catalog.tables()) {
    for (const auto& index : table->indexes) oids[index->relation_id.value()] = index->oid;
    oids[table->relation_id.value()] = oid;  // over its primary key's, which is the same tree
  }
  oids.erase(0);  // views have none
  return oids;
}

void fill_locks(ExecutionContext& session, const Datum*, std::vector<Datum>& values, Arena& arena) {
  std::unordered_map<uint32_t, Oid> oids = oids_of_trees(session.catalog->snapshot());
  WorkMeter meter;
  for (const LockInfo& lock : session.monitor->locks()) {
    using Kind = LockInfo::Kind;
    meter.did(sizeof(LockInfo));
    bool is_advisory = lock.kind == Kind::advisory_bigint || lock.kind == Kind::advisory_pair;
    RowBuilder row(values, arena);
    row.text(is_advisory ? "advisory" : lock.kind == Kind::relation ? "relation" : "tuple");
    row.integer(system_oid::database_postgres);
    auto oid = oids.find(lock.relation);
    row.integer_or_null(oid == oids.end() ? invalid_oid : oid->second);
    row.null().null().null().null();  // page, tuple, virtualxid, transactionid
    if (is_advisory) {
      row.integer(static_cast<uint32_t>(lock.number >> 32));
      row.integer(static_cast<uint32_t>(lock.number));
      row.integer(lock.kind == Kind::advisory_bigint ? 1 : 2);
    } else {
      row.null().null().null();  // classid, objid, objsubid
    }
    row.null();  // virtualtransaction
    row.integer_or_null(lock.process).text(lock.mode).boolean(lock.granted);
    row.boolean(false).integer_or_null(lock.wait_start);
  }
}

void fill_relation_memory(ExecutionContext& session, const Datum*, std::vector<Datum>& values,
                          Arena& arena) {
  auto add = [&](const TableDescriptor& table, Oid oid, std::string_view name, RelationKind kind,
                 const RelationMemory& memory) {
    RowBuilder row(values, arena);
    row.integer(oid).text(table.schema_name).text(name);
    row.integer(static_cast<int64_t>(kind)).integer(memory.rows);
    row.integer(static_cast<int64_t>(memory.row_bytes));
    row.integer(static_cast<int64_t>(memory.tree_bytes));
  };
  for (const auto& [oid, table] : session.catalog->snapshot().tables()) {
    if (table->kind != RelationKind::table) continue;
    add(*table, oid, table->name, table->kind, memory_of(*table));
    for (const auto& index : table->indexes)
      add(*table, index->oid, index->name, RelationKind::index, memory_of(*table, *index));
  }
}

void fill_memory(ExecutionContext& session, const Datum*, std::vector<Datum>& values,
                 Arena& arena) {
  MemoryInfo info = session.monitor->memory();
  RowBuilder row(values, arena);
  row.integer(info.limit).integer(info.reserve).integer(info.used).integer(info.mapped);
  row.integer(info.promised).integer(info.to_reclaim).integer(info.old_versions);
  row.integer(info.refusals).integer(info.sessions_ended);
}

void fill_log_statistics(ExecutionContext& session, const Datum*, std::vector<Datum>& values,
                         Arena& arena) {
  LogStatistics all = session.monitor->log_statistics();
  RowBuilder row(values, arena);
  row.integer(all.records).integer(0).numeric(all.record_bytes).integer(all.buffer_waits);
  row.integer(all.writes).integer(all.syncs).real(all.write_ms).real(all.sync_ms);
  row.integer(all.reset_time);
}

// There are no tablespaces, and no archive to wait for.
void fill_backup_stop(ExecutionContext& session, const Datum*, std::vector<Datum>& values,
                      Arena& arena) {
  if (session.backup == nullptr)
    throw SqlError(sqlstate::feature_not_supported, "there is no server to back up");
  SessionBackup::End end = session.backup->stop();
  RowBuilder(values, arena).lsn(end.epoch).text(end.label_file).text("");
}

SessionSlots& slots_of(ExecutionContext& session) {
  if (session.slots == nullptr)
    throw SqlError(sqlstate::feature_not_supported, "there is no server to keep a log");
  return *session.slots;
}

void fill_created_slot(ExecutionContext& session, const Datum* arguments,
                       std::vector<Datum>& values, Arena& arena) {
  std::string_view name = arguments[0].bytes();
  std::optional<uint64_t> place =
      slots_of(session).create(name, arguments[1].as_bool(), arguments[2].as_bool());
  RowBuilder row(values, arena);
  row.text(name);
  place ? row.lsn(*place) : row.null();
}

void fill_advanced_slot(ExecutionContext& session, const Datum* arguments,
                        std::vector<Datum>& values, Arena& arena) {
  std::string_view name = arguments[0].bytes();
  uint64_t place = slots_of(session).advance(name, lsn_of(arguments[1]));
  RowBuilder(values, arena).text(name).lsn(place);
}

// All are physical ones: what is told of logical decoding is null.
void fill_slots(ExecutionContext& session, const Datum*, std::vector<Datum>& values, Arena& arena) {
  for (const SlotInfo& slot : session.monitor->slots()) {
    RowBuilder row(values, arena);
    row.text(slot.name).null().text("physical").null();
    row.boolean(slot.owner != 0).boolean(slot.owner != 0).integer_or_null(slot.owner);
    row.null().null();  // no numbers for transactions
    bool keeps = !slot.availability.empty() && !slot.lost;
    keeps ? row.lsn(slot.restart) : row.null();
    row.null().text_or_null(slot.availability);
    slot.safe_bytes < 0 ? row.null() : row.integer(slot.safe_bytes);
    row.boolean(false);
  }
}

void fill_logs(ExecutionContext& session, const Datum*, std::vector<Datum>& values, Arena& arena) {
  for (const LogInfo& log : session.monitor->logs()) {
    RowBuilder row(values, arena);
    row.text(log.directory).integer(log.live_segments).integer(log.prepared_segments);
    row.integer(log.bytes_written).integer(log.syncs);
    row.real(log.mean_sync_ms).real(log.median_sync_ms).real(log.p99_sync_ms);
    row.real(log.max_sync_ms);
    row.integer(static_cast<int64_t>(log.current_epoch));
    row.integer(static_cast<int64_t>(log.durable_epoch));
    row.text(log.space);
  }
}

void fill_recovery(ExecutionContext& session, const Datum*, std::vector<Datum>& values,
                   Arena& arena) {
  RecoveryInfo info = session.monitor->recovery();
  RowBuilder row(values, arena);
  row.integer(info.started).boolean(info.new_database).boolean(info.clean_shutdown);
  if (info.checkpoint != 0) {
    row.integer(static_cast<int64_t>(info.checkpoint)).integer(info.checkpoint_bytes);
    row.integer(info.checkpoint_records).real(info.checkpoint_seconds);
  } else {
    row.null().null().null().null();
  }
  row.integer(info.log_bytes).integer(info.records).integer(info.entries);
  row.real(info.analysis_seconds).real(info.replay_seconds);
  row.integer(static_cast<int64_t>(info.durable_epoch)).text_or_null(info.data_loss);
}

void fill_checkpoints(ExecutionContext& session, const Datum*, std::vector<Datum>& values,
                      Arena& arena) {
  for (const CheckpointRow& checkpoint : session.monitor->checkpoints()) {
    RowBuilder row(values, arena);
    row.integer(checkpoint.number).text(checkpoint.state).text(checkpoint.cause);
    row.text_or_null(checkpoint.phase).integer(checkpoint.started);
    row.integer_or_null(checkpoint.ended).integer(checkpoint.rows);
    row.integer_or_null(checkpoint.bytes);
    row.integer(checkpoint.planned_bytes).integer(checkpoint.walked_bytes);
    row.real(checkpoint.settle_ms).real(checkpoint.write_ms).real(checkpoint.sync_ms);
    row.real(checkpoint.log_wait_ms).real(checkpoint.total_ms);
    row.integer_or_null(static_cast<int64_t>(checkpoint.begun_epoch));
    if (checkpoint.ended_epoch != 0) {
      row.integer(static_cast<int64_t>(checkpoint.ended_epoch));
      row.integer(checkpoint.log_bytes).integer(checkpoint.retired_log_bytes);
    } else {
      row.null().null().null();
    }
    row.text_or_null(checkpoint.failure);
  }
}

void fill_scrub(ExecutionContext& session, const Datum*, std::vector<Datum>& values, Arena& arena) {
  ScrubInfo info = session.monitor->scrub();
  RowBuilder row(values, arena);
  row.boolean(info.running).integer(info.passes);
  row.integer_or_null(info.started).integer_or_null(info.ended);
  row.integer(info.checkpoint_bytes).integer(info.log_bytes);
  row.integer(info.damaged).integer(info.unreadable).text_or_null(info.last_fault);
  row.integer_or_null(info.last_fault_time).integer(info.repairs);
}

// All rows are made when the scan begins.
class MonitorFunction final : public SetFunction {
 public:
  MonitorFunction(Oid procedure, Fill fill) : width_(row_columns(procedure).size()), fill_(fill) {}

  void start(RowContext& context, const Datum* arguments) override {
    values_.clear();
    arena_.reset();
    position_ = 0;
    fill_(*context.execution, arguments, values_, arena_);
  }
  bool next(RowContext&, Datum* values) override {
    if (position_ == values_.size()) return false;
    for (size_t i = 0; i < width_; ++i) values[i] = values_[position_++];
    return true;
  }

 private:
  const size_t width_;
  const Fill fill_;
  std::vector<Datum> values_;  // row after row
  Arena arena_{ArenaLimit::memory_limit};
  size_t position_ = 0;
};

}  // namespace

std::unique_ptr<SetFunction> make_monitor_function(Oid procedure) {
  switch (procedure) {
    case 1136:
      return std::make_unique<MonitorFunction>(procedure, fill_log_statistics);
    case 1371:
      return std::make_unique<MonitorFunction>(procedure, fill_locks);
    case 2022:
      return std::make_unique<MonitorFunction>(procedure, fill_activity);
    case 2510:
      return std::make_unique<MonitorFunction>(procedure, fill_prepared_statements);
    case 2511:
      return std::make_unique<MonitorFunction>(procedure, fill_cursors);
    case 2739:
      return std::make_unique<MonitorFunction>(procedure, fill_backup_stop);
    case 3779:
      return std::make_unique<MonitorFunction>(procedure, fill_created_slot);
    case 3781:
      return std::make_unique<MonitorFunction>(procedure, fill_slots);
    case 3878:
      return std::make_unique<MonitorFunction>(procedure, fill_advanced_slot);
    case 9001:
      return std::make_unique<MonitorFunction>(procedure, fill_database);
    case 9002:
      return std::make_unique<MonitorFunction>(procedure, fill_statements);
    case 9003:
      return std::make_unique<MonitorFunction>(procedure, fill_snapshots);
    case 9004:
      return std::make_unique<MonitorFunction>(procedure, fill_memory);
    case 9005:
      return std::make_unique<MonitorFunction>(procedure, fill_relation_memory);
    case 9006:
      return std::make_unique<MonitorFunction>(procedure, fill_logs);
    case 9007:
      return std::make_unique<MonitorFunction>(procedure, fill_recovery);
    case 9008:
      return std::make_unique<MonitorFunction>(procedure, fill_checkpoints);
    case 9009:
      return std::make_unique<MonitorFunction>(procedure, fill_scrub);
    case 9013:
      return std::make_unique<MonitorFunction>(procedure, fill_sessions);
    case 9014:
      return std::make_unique<MonitorFunction>(procedure, fill_column_statistics);
    default:
      return nullptr;
  }
}

}  // namespace pgsilo
