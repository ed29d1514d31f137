// Runs the programs of a round side by side and notes what should not have happened.
// Thread safety: one owner.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/sessions/connection.h"
#include "tests/sessions/program.h"
#include "tests/sessions/server_process.h"

namespace pgsilo::sessions {

struct Finding {
  std::string kind;  // died, hang, protocol, internal error, ...
  std::string what;
  std::string details;  // what each session did last
};

struct Counts {
  uint64_t batches = 0, errors = 0, commands = 0, cancels_needed = 0, ends = 0;
  std::map<std::string, uint64_t> by_state;  // SQLSTATE
};

class RoundRunner {
 public:
  // `patience`: how long an answer may take beyond the statement_timeout the server was given.
  RoundRunner(ServerProcess& server, const Round& round, std::chrono::milliseconds patience);
  void run();

  const std::vector<Finding>& findings() const { return findings_; }
  const Counts& counts() const { return counts_; }
  bool server_died() const { return died_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Session {
    const Program* program = nullptr;
    std::unique_ptr<Connection> connection;
    size_t next = 0;
    bool began = false;          // its startup packet was sent
    bool asks = false;           // an answer is awaited
    bool leaves = false;         // at the end of the batch that was sent
    bool was_cancelled = false;  // by us, for it took too long
    bool finished = false;
    bool left_block = false;       // the last batch was a rollback of ours
    bool was_refused = false;      // its own startup parameters were
    Clock::time_point since;       // when it began to wait
    std::deque<std::string> last;  // batches, the newest last
  };

  void prepare();
  void open(Session& session);
  void advance(Session& session);
  void send(Session& session, const Batch& batch);
  void disturb(const Batch& batch);
  void wait_for_news();
  void read(Session& session);
  void watch(Session& session);
  void answered(Session& session);
  void note_errors(Session& session);
  void close(Session& session);
  // `at`: whose answer it is.
  void add(const std::string& kind, const std::string& what, const Session* at = nullptr);
  std::string state_of_sessions(const Session* first) const;

  ServerProcess& server_;
  const Round& round_;
  const std::chrono::milliseconds patience_;
  std::vector<Session> sessions_;
  std::vector<Finding> findings_;
  std::set<std::string> known_;
  Counts counts_;
  bool died_ = false;
};

}  // namespace pgsilo::sessions
