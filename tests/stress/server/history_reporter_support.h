// Random transactions for histories (tests/history), and notes of what they were answered: single
// statements, several in one query, pipelines, and blocks with savepoints; as simple and as
// prepared statements.
//
// Endangered ones may be cancelled, and their session ended, at any moment, and sometimes they go
// without awaiting an answer. They choose what they do so that its effect is known even if none
// comes, and leave a row in table "note" by which one learns later whether they committed.
// Thread safety: one thread each.
#pragma once

#include <set>

#include "tests/history/history.h"
#include "tests/stress/server/disturbance_support.h"
#include "tests/stress/server/history_author_support.h"
#include "tests/stress/server/server_support.h"

namespace pgsilo::server_stress {

class Reporter {
 public:
  // `processes`: null, or where an endangered one is to be found.
  Reporter(const InProcessServer& server, int thread, uint64_t seed, SessionProcesses* processes)
      : client_(server),
        thread_(thread),
        recorder_(thread),
        author_(recorder_, thread, seed),
        processes_(processes),
        endangered_(processes != nullptr) {
    if (endangered_) publish();
  }

  void transaction();
  // After all transactions: the notes in the table.
  void settle(const std::set<history::Version>& notes) { recorder_.settle(notes); }
  const history::Recorder& recorder() const { return recorder_; }

 private:
  enum class Told : uint8_t { done, duplicate, failed };

  void publish() { processes_->publish(static_cast<size_t>(thread_), client_); }
  void reconnect();
  std::vector<Statement> statements(bool in_block);
  Answer run(const Statement& statement);
  Told note(const Statement& statement, const Answer& answer, bool may_conflict);
  // Whether a statement without data was executed.
  bool command(const std::string& sql);
  void roll_back();

  void abandon(const std::string& sql);
  void block();
  bool statements_of_block();
  bool back_to_savepoint(bool there_is_one, Told told);
  void end_block(history::Version mark);
  void alone();
  void together();
  void pipeline();
  void one_shot(const std::vector<Statement>& statements, const std::vector<Answer>& answers);
  void endangered_query();
  void endangered_together();
  void read_back();

  Client client_;
  const int thread_;
  history::Recorder recorder_;
  Author author_;
  SessionProcesses* const processes_;
  const bool endangered_;
};

}  // namespace pgsilo::server_stress
