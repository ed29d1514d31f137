// The composition root: builds, connects, starts and stops every part of the server.
//
//   Database database(settings, directory);
//   if (!database.open(&why)) ...           sockets, recovery, catalog; clients are told to wait
//   database.start();                       workers, loggers: clients are served
//   ...
//   database.stop();                        sessions end, everything is durable
//
// Thread safety: one thread. Invariant: parts are destroyed after those that use them.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "catalog/catalog.h"
#include "executor/spill/temporary_storage.h"
#include "server/block_words.h"
#include "server/helping_workers.h"
#include "server/log/server_log.h"
#include "server/monitor.h"
#include "server/net/doorkeeper.h"
#include "server/net/listener.h"
#include "server/parser_threads.h"
#include "server/reception.h"
#include "server/server_memory.h"
#include "server/session/session_registry.h"
#include "server/settings/settings.h"
#include "server/worker_home.h"
#include "storage/epoch/durable_epoch.h"
#include "storage/epoch/epoch_manager.h"
#include "storage/epoch/reclaimer.h"
#include "storage/relation/relation_directory.h"
#include "storage/transaction/record_lock.h"
#include "wal/wal.h"

namespace pgsilo {

class Database final {
 public:
  // `files`: where its data lie; the process's own file system but in tests.
  Database(ServerSettings settings, std::string directory,
           std::unique_ptr<FileSystem> files = posix_file_system());
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Before open(): who answers what statements ask about the server, in place of the database's
  // own. For tests, whose monitor fails as they want.
  void set_monitor(ServerMonitor& monitor) { asked_monitor_ = &monitor; }
  // False: `why` is for the user (a second line is a hint).
  bool open(std::string* why);
  void start();
  // From now on clients are refused (57P03); those who are there go on.
  void refuse_clients();
  bool has_clients() const { return reception_.has_clients(); }
  void stop();
  // For the ready line: where to connect.
  std::string address() const;
  size_t worker_count() const { return workers_.size(); }
  // For checks of a stopped database.
  Catalog& catalog() { return *catalog_; }

 private:
  bool prepare_directory(std::string* why);
  bool lock_directory(std::string* why);
  WalOptions wal_options() const;
  bool open_log(std::string* why);
  void set_checkpoint_options(WalOptions* options) const;
  bool recover(std::string* why);
  bool open_catalog(std::string* why);
  TypeContext type_settings();
  void mend_lost_rows(const WaitSettings& waits);
  void warn_of_little_memory() const;
  void make_temporary_storage();
  void make_workers();
  bool count_seats(std::string* why);
  bool listen(std::string* why);
  bool listen_addresses(std::vector<std::string>* addresses, std::string* why) const;
  std::string lock_text() const;

  ServerSettings settings_;
  ServerLog log_;
  const std::string directory_;
  LockFile directory_lock_;
  std::unique_ptr<FileSystem> files_;
  MonotonicClock clock_;
  std::unique_ptr<Wal> wal_;
  std::vector<LostBlock> lost_blocks_;  // until the catalog is open

  RelationDirectory relations_;
  Reclaimer reclaimer_;
  LockTable locks_;
  std::unique_ptr<DurableEpoch> durable_;
  std::unique_ptr<EpochManager> epochs_;
  std::unique_ptr<SnapshotRegistry> snapshots_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<CheckpointNames> block_names_;
  SessionRegistry sessions_;
  std::unique_ptr<ServerMemory> memory_;
  Monitor monitor_{sessions_, locks_};
  ServerMonitor* asked_monitor_ = &monitor_;
  HelpingWorkers helpers_;
  Reception reception_{sessions_};
  ParserThreads parsers_;
  std::unique_ptr<TemporaryStorage> temporary_;
  std::vector<std::unique_ptr<WorkerHome>> workers_;
  Listener listener_;
  Doorkeeper doorkeeper_{listener_};
  size_t descriptor_limit_ = 0;
  size_t places_at_door_ = 0;
  bool running_ = false;
};

}  // namespace pgsilo
