// One permutation of a spec's steps, run against the server: what each session was answered, in
// which order, and who waited for whom.
//
// A step either is answered or waits for a lock that another session holds; pg_blocking_pids()
// tells which, so no clock decides. Of a circle of waiting sessions the server ends one.
// Thread safety: none.
#pragma once

#include <string>
#include <vector>

#include "tests/isolation/connection.h"
#include "tests/isolation/spec.h"

namespace pgsilo::isolation {

struct Told {
  size_t step;
  std::string answer;
};

// A session's steps from its first to the one after which it stood outside of a block.
struct Transaction {
  size_t session = 0;
  size_t begin = 0;  // when its first step was sent and its last one answered, counted in events
  size_t end = 0;
  bool committed = false;
  bool first_of_session = false;
  std::vector<Told> told;  // answers that say something
};

struct Run {
  // False: the session of a next step still waited. Nothing else counts then.
  bool possible = true;
  bool waited = false;
  bool deadlock = false;
  bool conflict = false;  // somebody was told 40001
  std::vector<std::vector<Told>>
      rounds;          // what was answered after each step; in a round: unordered
  std::string events;  // for people: "r1 1,10 | w2 waits | ..."
  std::string state;
  std::vector<Transaction> transactions;
};

class Player {
 public:
  Player(const std::string& conninfo, const Spec& spec, const std::string& level);
  // `breath_ms`: a pause before each step.
  Run run(const Permutation& permutation, int breath_ms = 0);

 private:
  void begin_anew(Connection& session) const;
  void start(size_t step);
  // Waits until each session is answered or is blocked by another one.
  void settle();
  bool in_circle(size_t session);
  std::vector<size_t> blockers_of(size_t session);
  void note_answer(size_t session);
  void note_event(size_t session, const std::string& what);
  void finish_transaction(size_t session, bool committed);
  void clean_up();

  const Spec& spec_;
  const std::string level_;
  Connection observer_;
  std::vector<Connection> sessions_;
  struct Open {
    size_t step = 0;  // that was sent
    bool waits = false;
    bool begun = false;
    Transaction transaction;
  };
  std::vector<Open> open_;
  size_t clock_ = 0;
  Run run_;
};

}  // namespace pgsilo::isolation
