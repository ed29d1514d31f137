// A database without a server: the engine with its log over a file system that tests choose, the
// catalog, and SQL sessions in turns on one thread. It starts as server/database.cpp does. Thread
// safety: none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/limits.h"
#include "base/random.h"
#include "catalog/catalog.h"
#include "tests/crash/logged_engine.h"
#include "tests/crash/session_fiber.h"

namespace pgsilo {

class LoggedDatabase {
 public:
  LoggedDatabase(FileSystem& files, std::string directory, WalOptions options)
      : engine_(files, std::move(directory), std::move(options)) {}
  // Ends what still runs in the sessions; nothing of it reaches the log.
  ~LoggedDatabase();
  LoggedDatabase(const LoggedDatabase&) = delete;
  LoggedDatabase& operator=(const LoggedDatabase&) = delete;

  // Recovers and opens the catalog; a session for each worker of the options. False: why().
  bool start();
  const std::string& why() const { return engine_.why(); }
  // Indexes that the log had as not valid.
  size_t indexes_found_unfinished() const { return unfinished_; }
  // The trees are those of the catalog and sound, every index is valid and has an entry for each
  // row and no other, and what was dropped is freed. Empty, or what is not so. Nothing is running.
  std::string disagreement();

  LoggedEngine& engine() { return engine_; }
  testing::SqlSession& session(size_t index) { return *sessions_[index]; }
  void spawn(size_t session, SessionFiber::Body body);
  void resume(size_t session) {
    if (!fibers_[session]->finished()) fibers_[session]->resume();
  }

 private:
  void note_unfinished();
  std::string check_table(const TableDescriptor& table);

  LoggedEngine engine_;
  Catalog catalog_{engine_.relations()};
  size_t unfinished_ = 0;
  std::vector<std::unique_ptr<testing::SqlSession>> sessions_;
  StackPool stacks_{limits::fiber_stack_bytes, limits::kept_stack_bytes};
  std::vector<std::unique_ptr<SessionFiber>> fibers_;  // by session
};

}  // namespace pgsilo
