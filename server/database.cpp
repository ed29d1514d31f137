#include "server/database.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/limits.h"
#include "base/server_log.h"
#include "base/small_memory.h"
#include "executor/constraint/index_keys.h"
#include "executor/ddl/expression_upgrade.h"
#include "server/descriptor_plan.h"
#include "server/limits.h"
#include "server/lost_rows.h"
#include "server/not_serving.h"
#include "server/settings/canonical.h"
#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "wal/foreign_content.h"
#include "wal/stepping_parker.h"

namespace pgsilo {
namespace {

// The CPUs this process may use.
std::vector<int> usable_cpus() {
  cpu_set_t allowed;
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
    }
  }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

std::vector<std::string> split_commas(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    size_t comma = text.find(',');
    std::string_view word = text.substr(0, comma);
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    if (!word.empty()) words.emplace_back(word);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return words;
}

}  // namespace

Database::Database(ServerSettings settings, std::string directory,
                   std::unique_ptr<FileSystem> files)
    : settings_(std::move(settings)),
      log_(settings_),
      directory_(std::move(directory)),
      files_(std::move(files)) {}

Database::~Database() { set_crash_witness(nullptr); }

bool Database::open(std::string* why) {
  descriptor_limit_ = raise_descriptor_limit();
  places_at_door_ = std::min(limits::clients_at_closed_door,
                             descriptor_limit_ / limits::door_share_of_descriptors);
  settings_.set_internal("data_directory", absolute_path(directory_));
  if (settings_.value("memory_limit").integer == 0) {
    size_t bytes = ServerMemory::default_limit_bytes(wal_options().workers);
    settings_.set_internal("memory_limit", std::to_string(bytes >> 20) + "MB");
  }
  if (!prepare_directory(why) || !lock_directory(why) || !listen(why)) return false;
  doorkeeper_.set_patience({.clients = places_at_door_});
  doorkeeper_.say(starting_up());
  if (!doorkeeper_.start(why) || !open_log(why) || !recover(why)) return false;
  make_workers();
  warn_of_little_memory();
  return open_catalog(why) && count_seats(why);
}

void Database::warn_of_little_memory() const {
  size_t used = memory_->ceiling().usage().used;
  size_t limit = memory_->ceiling().limit_bytes();
  if (used <= limit) return;
  write_server_log(LogLevel::warning,
                   concat("the database takes ", used >> 20, " MB, more than memory_limit, ",
                          limit >> 20, " MB"),
                   "Nothing can be added to it, and few rows can be deleted by one statement.",
                   "Raise memory_limit, or TRUNCATE or DROP what is not needed.");
}

// The first start of a program writes the catalog's built-in rows; they are durable before anybody
// can see them.
bool Database::open_catalog(std::string* why) {
  SteppingParker parker(*wal_);
  WaitSettings waits{.parker = &parker};
  try {
    catalog_->use_index_evaluators(make_index_evaluator);
    bool written = catalog_->open(workers_[0]->storage(), waits);
    written |= store_expression_texts(*catalog_, workers_[0]->storage(), waits, type_settings());
    if (written) wal_->wait_durable(0, epochs_->current());
    if (!lost_blocks_.empty()) mend_lost_rows(waits);
    block_names_ = std::make_unique<CheckpointNames>(*catalog_);
    wal_->scrubber().set_names(block_names_.get());
    return true;
  } catch (const SqlError& error) {
    *why = error.diagnostic().message;
    if (!error.diagnostic().hint.empty()) *why += "\nHINT:  " + error.diagnostic().hint;
    return false;
  }
}

// By which a new session would read literals.
TypeContext Database::type_settings() {
  TypeContext types;
  types.transaction_timestamp = types.statement_timestamp =
      unix_time_us() - postgres_epoch_unix_seconds * usecs_per_second;
  types.time_zone = TimeZone::load(settings_.value("TimeZone").text).value_or(TimeZone::utc());
  read_date_style(settings_.value("DateStyle").text, &types.date_style, &types.date_order);
  return types;
}

void Database::mend_lost_rows(const WaitSettings& waits) {
  LostRows lost(*catalog_, std::move(lost_blocks_));
  lost.tell();
  lost.mend_indexes(workers_[0]->storage(), waits);
}

// When all files are open that a server at rest has.
bool Database::count_seats(std::string* why) {
  size_t directories = split_commas(settings_.value("checkpoint_directories").text).size();
  auto threads = static_cast<size_t>(settings_.value("checkpoint_threads").integer);
  DescriptorNeeds needs{.limit = descriptor_limit_,
                        .in_use = descriptors_in_use(),
                        .door = places_at_door_,
                        .logs = wal_->status().logs.size(),
                        .checkpoint_files = std::max({size_t{1}, directories, threads}),
                        .temporary_files = most_temporary_files(descriptor_limit_) +
                                           limits::temporary_file_threads + 1};
  size_t seats = seats_for_clients(needs);
  if (seats < limits::least_seats) {
    *why = concat(
        "insufficient file descriptors available to start server process\nDETAIL:  "
        "System allows ",
        needs.limit, ", server needs at least ", least_descriptors(needs), ".");
    return false;
  }
  auto sessions = static_cast<size_t>(settings_.value("max_connections").integer);
  if (sessions > seats) {
    write_server_log(LogLevel::warning,
                     concat("max_connections is ", seats, " instead of ", sessions,
                            ": the process may have no more than ", needs.limit, " files open"));
    settings_.set_internal("max_connections", std::to_string(seats));
  }
  reception_.set_seats(std::min(seats, limits::sockets_per_session * sessions));
  return true;
}

// Nothing in it is touched before it is known to be ours, or empty.
bool Database::prepare_directory(std::string* why) {
  struct stat status;
  if (stat(directory_.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode))
      return check_data_directory(*files_, directory_, wal_options(), why);
    *why = "\"" + directory_ + "\" is not a directory";
    return false;
  }
  // Missing parents are made, as initdb does.
  std::string part;
  FileResult result = make_directories(*files_, directory_, &part);
  if (!result.ok()) *why = "could not create directory \"" + part + "\": " + result.text();
  return result.ok();
}

std::string Database::lock_text() const {
  return std::to_string(getpid()) + "\n" + settings_.value("data_directory").text + "\n" +
         std::to_string(unix_time_us() / 1000000) + "\n" + settings_.value("port").text + "\n" +
         settings_.value("unix_socket_directories").text + "\n\n";
}

bool Database::lock_directory(std::string* why) {
  int owner = 0;
  if (directory_lock_.acquire(join_path(directory_, "postmaster.pid"), &owner)) {
    directory_lock_.write(lock_text());
    return true;
  }
  *why = LockFile::refusal("postmaster.pid", owner,
                           "running in data directory \"" + directory_ + "\"");
  return false;
}

WalOptions Database::wal_options() const {
  WalOptions options;
  std::vector<std::string> directories = split_commas(settings_.value("log_directories").text);
  if (!directories.empty()) options.log_directories = directories;
  int64_t threads = settings_.value("worker_threads").integer;
  options.workers =
      static_cast<unsigned>(threads == 0 ? static_cast<int64_t>(usable_cpus().size()) : threads);
  options.compress = settings_.value("wal_compression").text != "off";
  options.sync_method = settings_.value("wal_sync_method").text == "fdatasync"
                            ? LogSyncMethod::fdatasync
                            : LogSyncMethod::direct;
  options.accept_data_loss = settings_.value("recovery_accept_data_loss").integer != 0;
  options.skip_damaged_blocks = settings_.value("recovery_skip_damaged_blocks").integer != 0;
  set_checkpoint_options(&options);
  options.max_slots = static_cast<unsigned>(settings_.value("max_replication_slots").integer);
  int64_t kept_megabytes = settings_.value("max_slot_wal_keep_size").integer;
  if (kept_megabytes >= 0) options.slot_keep_bytes = static_cast<uint64_t>(kept_megabytes) << 20;
  return options;
}

bool Database::open_log(std::string* why) {
  wal_ = Wal::open(*files_, clock_, directory_, wal_options(), why);
  return wal_ != nullptr;
}

void Database::set_checkpoint_options(WalOptions* options) const {
  std::vector<std::string> directories =
      split_commas(settings_.value("checkpoint_directories").text);
  if (!directories.empty()) options->checkpoint_directories = directories;
  int64_t threads = settings_.value("checkpoint_threads").integer;
  options->checkpoint_threads = static_cast<unsigned>(
      threads == 0 ? static_cast<int64_t>(options->checkpoint_directories.size()) : threads);
  options->compress_checkpoints = settings_.value("checkpoint_compression").text == "lz4";
  options->scrub_interval_us = settings_.value("scrub_interval").integer * 1'000'000;
  options->announce_checkpoints = settings_.value("log_checkpoints").integer != 0;
  options->checkpoints = {
      .timeout_us = settings_.value("checkpoint_timeout").integer * 1'000'000,
      .max_log_bytes = static_cast<uint64_t>(settings_.value("max_wal_size").integer) << 20,
      .completion_target = settings_.value("checkpoint_completion_target").real,
  };
}

bool Database::recover(std::string* why) {
  catalog_ = std::make_unique<Catalog>(relations_);
  ReclaimerHandle handle(reclaimer_);
  catalog_->create_system_relations();
  RecoveryAnnouncer progress(doorkeeper_);
  RecoveryResult recovered;
  auto live = [&] { return catalog_->live_relations(handle); };
  if (!wal_->recover(relations_, reclaimer_, live, &progress, &recovered, why)) return false;
  leave_small_memory();  // this thread took part, and makes hardly a row from here on
  if (!recovered.data_loss.empty()) write_server_log(LogLevel::warning, recovered.data_loss);
  durable_ = std::make_unique<DurableEpoch>(recovered.durable_epoch);
  epochs_ = std::make_unique<EpochManager>(recovered.first_epoch);
  snapshots_ = std::make_unique<SnapshotRegistry>(*epochs_);
  monitor_.set_snapshots(*snapshots_);
  monitor_.set_log(*wal_, recovered);
  lost_blocks_ = std::move(recovered.lost_blocks);
  return wal_->start(*epochs_, *durable_, why);
}

// What an earlier process has left goes first.
void Database::make_temporary_storage() {
  temporary_ = std::make_unique<TemporaryStorage>(*files_, join_path(directory_, "temporary"),
                                                  most_temporary_files(descriptor_limit_));
  temporary_->remove_stale();
  temporary_->start(limits::temporary_file_threads);
}

void Database::make_workers() {
  set_crash_witness(&sessions_);
  make_temporary_storage();
  std::vector<int> cpus = usable_cpus();
  bool pinned = settings_.value("worker_pinning").integer != 0;
  bool may_help = wal_->workers() > 1;
  auto limit_megabytes = static_cast<size_t>(settings_.value("memory_limit").integer);
  memory_ = std::make_unique<ServerMemory>(limit_megabytes << 20, wal_->workers(), reclaimer_,
                                           *snapshots_, sessions_, locks_);
  monitor_.set_memory(*memory_);
  WorkerHome::Parts parts{
      .engine = {*epochs_, *durable_, reclaimer_, relations_, locks_, *snapshots_,
                 may_help ? &helpers_ : nullptr},
      .wal = *wal_,
      .catalog = *catalog_,
      .sessions = sessions_,
      .settings = settings_,
      .monitor = *asked_monitor_,
      .log = log_,
      .memory = memory_->ceiling(),
      .reception = reception_,
      .parsers = parsers_,
      .temporary = *temporary_,
  };
  parsers_.start(memory_->ceiling(), wal_->workers());
  for (unsigned i = 0; i < wal_->workers(); ++i) {
    WorkerOptions options;
    options.index = static_cast<int>(i);
    options.cpu = pinned ? cpus[i % cpus.size()] : -1;
    options.batch_scheduling = settings_.value("worker_batch_scheduling").integer != 0;
    options.cpus = static_cast<int>(cpus.size());
    options.poll_us = settings_.value("worker_poll_time").integer;
    options.background_share_percent =
        static_cast<int>(settings_.value("background_share").integer);
    options.session_moves = static_cast<SessionMoves>(settings_.value("session_balancing").integer);
    workers_.push_back(std::make_unique<WorkerHome>(options, parts));
  }
  std::vector<WorkerHome*> homes;
  homes.reserve(workers_.size());
  for (auto& worker : workers_) homes.push_back(worker.get());
  std::vector<WorkerStatistics*> statistics;
  statistics.reserve(homes.size());
  for (WorkerHome* home : homes) statistics.push_back(&home->statistics());
  std::vector<const Worker*> peers;
  peers.reserve(homes.size());
  for (WorkerHome* home : homes) peers.push_back(&home->worker());
  for (WorkerHome* home : homes) {
    home->worker().set_peers(peers);
    home->set_peers(homes);
  }
  monitor_.set_workers(std::move(statistics));
  reception_.set_workers(homes);
  helpers_.set_workers(std::move(homes));
}

bool Database::listen_addresses(std::vector<std::string>* addresses, std::string* why) const {
  for (const std::string& name : split_commas(settings_.value("listen_addresses").text)) {
    if (name == "localhost") {
      addresses->push_back("127.0.0.1");
      addresses->push_back("::1");
    } else if (name == "::1" || name.starts_with("127.")) {
      addresses->push_back(name);
    } else {
      *why = "cannot listen on \"" + name +
             "\": without authentication only loopback addresses are served\nHINT:  Use localhost, "
             "127.0.0.1 or ::1.";
      return false;
    }
  }
  return true;
}

bool Database::listen(std::string* why) {
  int port = static_cast<int>(settings_.value("port").integer);
  for (const std::string& directory :
       split_commas(settings_.value("unix_socket_directories").text)) {
    if (!listener_.open_unix(directory, port, lock_text(), why)) return false;
  }
  std::vector<std::string> addresses;
  if (!listen_addresses(&addresses, why)) return false;
  size_t opened = 0;
  std::string problem;
  for (const std::string& address : addresses) {
    if (listener_.open_tcp(address, port, &problem)) ++opened;
  }
  // A machine without IPv6 is no reason to refuse.
  if (opened > 0 || addresses.empty()) return true;
  *why = problem;
  return false;
}

void Database::start() {
  wal_->start_threads();
  for (auto& worker : workers_) worker->start();
  doorkeeper_.let_in(reception_);
  running_ = true;
}

void Database::refuse_clients() { doorkeeper_.say(shutting_down()); }

void Database::stop() {
  if (!running_) return;
  running_ = false;
  sessions_.terminate_all();
  // Whoever connects from now on is told so; who came before has reached a worker.
  refuse_clients();
  for (auto& worker : workers_) worker->worker().request_stop();
  for (auto& worker : workers_) worker->join();
  wal_->stop();
  doorkeeper_.close();
  listener_.close();
  directory_lock_.release();
}

std::string Database::address() const {
  const std::string& port = settings_.value("port").text;
  std::vector<std::string> directories =
      split_commas(settings_.value("unix_socket_directories").text);
  std::string host = directories.empty() ? "localhost" : directories.front();
  return "psql -h " + host + " -p " + port + " -U postgres postgres";
}

}  // namespace pgsilo
