// One session of the server under test: a statement may be sent and its answer awaited while others
// go on. Thread safety: none.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <string>

namespace pgsilo::isolation {

// What one step was answered, as one line.
struct Answer {
  std::string text;      // rows "1,10 2,20" or "no row", a command tag, "error SQLSTATE"
  std::string tag;       // of the last statement; empty: it failed
  std::string sqlstate;  // empty: it succeeded

  // It tells nothing about the data: a conflict, a deadlock, a lock not to be had, or a failed
  // block.
  bool says_nothing() const {
    return sqlstate == "40001" || sqlstate == "40P01" || sqlstate == "55P03" || sqlstate == "25P02";
  }
};

class Connection {
 public:
  // Throws std::runtime_error, as all do, when the connection breaks.
  explicit Connection(const std::string& conninfo);

  void send(const std::string& sql);
  // Whether the whole answer to what was sent is there, after so many milliseconds at most.
  bool answered(int milliseconds);
  // The answer, once it is there. Nothing is pending any more.
  Answer take();
  // Sends, and waits for the answer.
  Answer run(const std::string& sql);
  // Must not fail.
  Answer must(const std::string& sql);

  bool pending() const { return pending_; }
  bool in_block() const;
  int pid() const { return PQbackendPID(connection_.get()); }

 private:
  void add(const PGresult* result);

  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
  bool pending_ = false;
  bool complete_ = false;
  Answer answer_;
};

}  // namespace pgsilo::isolation
