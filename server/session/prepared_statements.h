// Prepared statements of one session: those of the protocol's Parse and of SQL's PREPARE share one
// name space; the unnamed one is the empty name. They are outside of transactions, but a one-shot
// that runs again must find what it found the first time: changes since the replay point are
// remembered and can be undone. They go with their session to another worker. What they take beyond
// a little is asked for (memory_limit). Thread safety: none; the session's fiber.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/executable_plan.h"
#include "executor/plan_cache.h"
#include "executor/plan_choice.h"
#include "executor/session_statements.h"
#include "sql/ast/node.h"

namespace pgsilo {

struct PreparedStatement {
  std::shared_ptr<CachedText> text;
  size_t index = 0;  // which statement of the text
  // What is run and described: `text`'s statement itself, or for SQL's PREPARE what stands behind
  // AS. Null: empty query.
  const ast::Node* node = nullptr;
  bool is_planned = false;  // the planner's, not a command of the session
  std::shared_ptr<const ExecutablePlan> plan;
  // Of a named one: by which plans it has run since `plan` was made.
  PlanChoice choice;
  // As PostgreSQL counts them (docs/decisions/custom-plans.md).
  uint64_t generic_plans = 0;
  uint64_t custom_plans = 0;
  int64_t prepared_us = 0;  // microseconds since 2000-01-01 00:00 UTC
  bool from_sql = false;    // by PREPARE
  std::vector<Oid> declared_types;
  // As first planned. Values are read as these, so a later plan must have the same.
  std::vector<Oid> parameter_types;
  // Its parameters are literals of a query, which may be read anew (NormalizedQuery).
  bool is_normalized = false;
  // As first described: a later plan must give the same.
  std::vector<ResultColumn> result_columns;
  bool returns_rows = false;
  bool binary_rows = false;                     // where nobody says otherwise: of a BINARY cursor
  std::shared_ptr<PreparedStatement> declared;  // DECLARE's query
  // Behind which it was made (PreparedStatements::replay_point()).
  uint64_t replay_point = 0;
  // Under which settings its text was found, and read (SessionState::settings_number).
  uint64_t settings_number = 0;
  // How often the session had moved when it got its text (PreparedStatements::arrive()).
  uint64_t arrivals = 0;
  // It was not used yet at the worker that the session has come to (StatementRunner::settle()).
  bool is_unsettled = false;
  // Of the named portals that keep it, whatever becomes of its name: how many, and what it took
  // when the first came (Portals).
  size_t portals = 0;
  size_t portals_bytes = 0;

  // What it takes of memory, about; what it shares with others of its text is in it.
  size_t bytes() const;
  // Whether that is what has been told of it.
  bool is_described_by(const ExecutablePlan& other) const;

 private:
  friend class PreparedStatements;
  void take_own_text();
};

// Whether who was told of the one may take the other.
bool same_columns(std::span<const ResultColumn> left, std::span<const ResultColumn> right);

class PreparedStatements final : public SessionStatements {
 public:
  std::shared_ptr<PreparedStatement> find(std::string_view name) const;
  // Throws 42P05 when a named statement exists, MemoryLimitReached when there is no room for it;
  // the unnamed one is replaced.
  void add(std::string_view name, std::shared_ptr<PreparedStatement> statement);
  // The session goes on at another worker. What a text has of plans and counters is that of the
  // worker which found it; a statement gets a text without when it is found next. So a move takes
  // the same time with many.
  void arrive() { ++arrivals_; }
  // False when there is none.
  bool remove(std::string_view name);
  void remove_all();
  // They are planned again when they are run.
  void forget_plans();
  // SessionStatements: the named ones.
  std::vector<PreparedStatementInfo> list() const override;

  // What there is now is remembered in place of what there was at the last replay point: the client
  // has been told of it, or may be.
  void set_replay_point();
  // Which one it is.
  uint64_t replay_point() const { return replay_points_; }
  // There is again what there was at the replay point: the client will not be told of what came
  // since.
  void rewind();

 private:
  struct Kept {
    std::shared_ptr<PreparedStatement> statement;
    size_t bytes = 0;  // when it was added
  };
  using Named = std::map<std::string, Kept, std::less<>>;

  void remember(std::string_view name);
  void insert(std::string_view name, Kept kept);
  void erase(Named::iterator place);

  std::shared_ptr<PreparedStatement> unnamed_;
  Named named_;
  size_t named_bytes_ = 0;
  uint64_t arrivals_ = 0;       // so far
  uint64_t replay_points_ = 0;  // so far
  // What stood at the replay point under each name that was changed since; null: nothing.
  std::optional<std::shared_ptr<PreparedStatement>> unnamed_before_;
  Named named_before_;
};

}  // namespace pgsilo
