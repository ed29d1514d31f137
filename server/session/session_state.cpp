#include "server/session/session_state.h"

#include <algorithm>
#include <utility>

#include "executor/executable_plan.h"
#include "server/limits.h"
#include "server/session/cursor.h"
#include "server/session/session_handoff.h"
#include "server/session/statement_runner.h"
#include "server/settings/canonical.h"
#include "server/statistics/worker_statistics.h"
#include "wal/checkpoint/checkpointer.h"

namespace pgsilo {
namespace {

struct Indexes {
  int date_style = find_setting("DateStyle");
  int interval_style = find_setting("IntervalStyle");
  int bytea_output = find_setting("bytea_output");
  int extra_float_digits = find_setting("extra_float_digits");
  int time_zone = find_setting("TimeZone");
  int search_path = find_setting("search_path");
  int recursive_worktable_factor = find_setting("recursive_worktable_factor");
  int retry_buffer_size = find_setting("retry_buffer_size");
  int lock_timeout = find_setting("lock_timeout");
  int transaction_timeout = find_setting("transaction_timeout");
  int application_name = find_setting("application_name");
  int deadlock_timeout = find_setting("deadlock_timeout");
  int log_lock_waits = find_setting("log_lock_waits");
  int enable_seqscan = find_setting("enable_seqscan");
  int enable_indexscan = find_setting("enable_indexscan");
  int enable_nestloop = find_setting("enable_nestloop");
  int enable_hashjoin = find_setting("enable_hashjoin");
  int enable_mergejoin = find_setting("enable_mergejoin");
  int enable_incremental_sort = find_setting("enable_incremental_sort");
  int enable_memoize = find_setting("enable_memoize");
  int statistics_target = find_setting("default_statistics_target");
  int work_mem = find_setting("work_mem");
  int hash_mem_multiplier = find_setting("hash_mem_multiplier");
  int temp_file_limit = find_setting("temp_file_limit");
  int enable_hashagg = find_setting("enable_hashagg");
  int enable_sort = find_setting("enable_sort");
  int plan_cache_mode = find_setting("plan_cache_mode");
};
const Indexes& indexes() {
  static const Indexes found;
  return found;
}

}  // namespace

SessionState::SessionState(const SessionServices& given, WorkerFiber& fiber, int descriptor,
                           OutputValve& valve, const SessionHandoff* handoff)
    : services(given),
      shared_activity(handoff == nullptr ? std::make_shared<SessionActivity>() : handoff->activity),
      interrupts(fiber),
      connection(given.worker, descriptor),
      settings(given.settings),
      log(given.log, settings),
      reply(connection, settings, log, valve),
      memory_promise(&given.memory),
      temporary_files(given.temporary, given.statistics.temporary_files, &interrupts,
                      &interrupts.cancelled(), &activity.wait_report()),
      transactions(given.storage, given.catalog, settings, context, waits, *this),
      slots(given.checkpointer.slots(), context),
      rows(reply),
      copy_in(connection, reply, transactions, interrupts),
      copy_out(reply) {
  connection.attach(interrupts, interrupts.terminating(), &activity.wait_report(),
                    &activity.client_wait());
  interrupts.watch(connection);
  interrupts.report_to(activity.wait_report(), transactions.storage().lock_owner());
  waits.parker = &interrupts;
  waits.cancelled = &interrupts.cancelled();
  context.settings = &settings;
  context.sequences = &sequences;
  context.references = &references;
  context.notices = &reply;
  context.time_budget = &interrupts;
  context.parker = &interrupts;
  context.wait_report = &activity.wait_report();
  context.monitor = &services.monitor;
  context.backup = &backup;
  context.slots = &slots;
  context.statements = &statements;
  context.cursors = &portals;
  context.cancel_requested = &interrupts.cancelled();
  context.memory_promise = &memory_promise;
  context.temporary_files = &temporary_files;
  context.types.arena = &statement_memory;
  context.copy_source = &copy_in;
  context.copy_sink = &copy_out;
  context.database_name = "postgres";
  transactions.catalog().use_temporary_schema(&temporary_schema);
}

SessionState::~SessionState() = default;

void SessionState::before_transaction_end() { portals.clear(); }

void SessionState::before_commit() {
  if (!portals.has_named()) return;
  portals.hold([this](Portal& portal) {
    portal.cursor->complete([&](uint64_t count) { return runner->pull(portal, count); });
  });
}

void SessionState::transaction_started() {
  only_reads = true;
  interrupts.begin_transaction();
  if (activity.transaction_start() == 0)
    activity.set_transaction_start(context.transaction_timestamp_us);
}

// A block that failed is over; its ROLLBACK comes here once more.
void SessionState::transaction_ended(bool committed) {
  interrupts.end_transaction();
  portals.settle_held(committed);
  if (activity.transaction_start() == 0) return;
  activity.set_transaction_start(0);
  activity.set_pin_start(0);
  activity.set_snapshot(Epoch());
  (committed ? services.statistics.commits : services.statistics.rollbacks).add();
}

void SessionState::storage_opened() {
  activity.set_pin_start(context.statement_timestamp_us);
  activity.set_snapshot(Epoch());
}

void SessionState::run_counted(CachedText& text, std::string_view shown) {
  StatementCounters& counters = services.statistics.statements.list(text.counters, shown);
  if (counted.get() != &counters) counted = text.counters;
  activity.set_query_id(counters.id);
  if (!running_again) counters.calls.add();
}

void SessionState::keep_writers_out(bool keeps) {
  transactions.set_keeps_writers_out(keeps);
  if (keeps && counted != nullptr) counted->exclusive_runs.add();
}

void SessionState::apply_changed_settings() {
  applied_generation_ = settings.generation();
  applied_temporary_ = temporary_schema.is_taken();
  const Indexes& at = indexes();
  auto number = [&](int index) { return settings.value(index).integer; };
  TypeContext& types = context.types;
  read_date_style(settings.value(at.date_style).text, &types.date_style, &types.date_order);
  types.interval_style = static_cast<IntervalStyle>(number(at.interval_style));
  types.bytea_output = static_cast<ByteaOutput>(number(at.bytea_output));
  types.extra_float_digits = static_cast<int8_t>(number(at.extra_float_digits));
  const std::string& zone = settings.value(at.time_zone).text;
  if (types.time_zone.name() != zone)
    types.time_zone = TimeZone::load(zone).value_or(TimeZone::utc());
  waits.lock_timeout_us = number(at.lock_timeout) * 1000;
  waits.deadlock_timeout_us = number(at.deadlock_timeout) * 1000;
  waits.observer = number(at.log_lock_waits) != 0 ? &lock_waits : nullptr;
  interrupts.set_transaction_limit(number(at.transaction_timeout));
  reply.set_limit(static_cast<size_t>(number(at.retry_buffer_size)) * 1024);

  if (const std::string& name = settings.value(at.application_name).text;
      name != application_name_) {
    application_name_ = name;
    activity.set_application_name(name);
  }

  apply_planner_settings();
  apply_memory_settings();
  split_name_list(settings.value(at.search_path).text, &search_path_);
  for (std::string& name : search_path_) {
    if (name == "$user") name = context.user_name;
  }
  planner_settings.search_path = search_path_;
  // What plans depend on: the planner's switches, the search path, and how literals are read, which
  // happens while planning.
  std::string key_before = std::exchange(settings_key, {});
  for (int index : {at.enable_seqscan, at.enable_indexscan, at.enable_nestloop, at.enable_hashjoin,
                    at.enable_mergejoin, at.enable_incremental_sort, at.enable_memoize,
                    at.enable_hashagg, at.enable_sort}) {
    settings_key += number(index) != 0 ? '1' : '0';
  }
  settings_key += concat(context.work_memory_bytes, ' ', context.hash_memory_bytes, ' ',
                         settings.value(at.recursive_worktable_factor).text, '\0');
  settings_key += concat(temporary_schema.name(), '\0');
  for (const std::string& name : search_path_) {
    settings_key += name;
    settings_key += '\0';
  }
  simple_settings_key = settings_key + "simple";
  settings_key += static_cast<char>('0' + static_cast<int>(context.types.date_order));
  settings_key += static_cast<char>('0' + static_cast<int>(context.types.interval_style));
  settings_key += context.types.time_zone.name();
  settings_number += settings_key != key_before;
}

void SessionState::apply_planner_settings() {
  const Indexes& at = indexes();
  auto number = [&](int index) { return settings.value(index).integer; };
  planner_settings.enable_sequential_scan = number(at.enable_seqscan) != 0;
  planner_settings.enable_index_scan = number(at.enable_indexscan) != 0;
  planner_settings.enable_nested_loop = number(at.enable_nestloop) != 0;
  planner_settings.enable_hash_join = number(at.enable_hashjoin) != 0;
  planner_settings.enable_merge_join = number(at.enable_mergejoin) != 0;
  planner_settings.enable_incremental_sort = number(at.enable_incremental_sort) != 0;
  planner_settings.enable_memoize = number(at.enable_memoize) != 0;
  context.statistics_target = static_cast<int32_t>(number(at.statistics_target));
  planner_settings.statistics_target = context.statistics_target;
  planner_settings.enable_hash_aggregate = number(at.enable_hashagg) != 0;
  planner_settings.enable_sort = number(at.enable_sort) != 0;
  planner_settings.recursive_worktable_factor = settings.value(at.recursive_worktable_factor).real;
  plan_cache_mode = static_cast<PlanCacheMode>(number(at.plan_cache_mode));
}

void SessionState::apply_memory_settings() {
  const Indexes& at = indexes();
  context.work_memory_bytes = static_cast<size_t>(settings.value(at.work_mem).integer) << 10;
  double hashed =
      static_cast<double>(context.work_memory_bytes) * settings.value(at.hash_mem_multiplier).real;
  context.hash_memory_bytes = static_cast<size_t>(std::min(hashed, 0x1p62));
  planner_settings.work_mem_bytes = context.work_memory_bytes;
  planner_settings.hash_memory_bytes = context.hash_memory_bytes;
  temporary_files.set_limit(settings.value(at.temp_file_limit).integer);
}

void SessionState::refresh_catalog() {
  apply_settings();
  CatalogView& view = transactions.catalog();
  view.refresh();
  if (path_generation_ == applied_generation_ && path_version_ == view.version()) return;
  path_generation_ = applied_generation_;
  path_version_ = view.version();
  using TemporaryPlace = CatalogView::TemporaryPlace;
  std::vector<Oid> path;
  TemporaryPlace temporary = TemporaryPlace::implicit;
  for (const std::string& name : search_path_) {
    if (name == TemporarySchema::alias && temporary == TemporaryPlace::implicit) {
      bool is_first = &name == &search_path_.front();
      temporary = is_first ? TemporaryPlace::named_first : TemporaryPlace::named;
    }
    if (const SchemaDescriptor* schema = view.find_schema(name)) path.push_back(schema->oid);
  }
  view.set_search_path(std::move(path), temporary);
}

}  // namespace pgsilo
