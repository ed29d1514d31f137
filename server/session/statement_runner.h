// From a parsed statement to its answer: planning (with the plan cache), describing, running
// portals. Commands of the session itself (SET, PREPARE, BEGIN ...) go to SessionCommands. Thread
// safety: none; the session's fiber.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "executor/worker/retry_policy.h"
#include "server/session/session_state.h"

namespace pgsilo {

class SessionCommands;

// That a wait took too long, or that somebody ended it, is true whatever was read.
bool rests_on_nothing(const SqlError& error);

class StatementRunner {
 public:
  StatementRunner(SessionState& state, SessionCommands& commands)
      : state_(state), commands_(commands), retry_(static_cast<uint64_t>(monotonic_ns())) {}

  // The text parsed, from the cache if it was seen before. Throws 22021, 42601, 54001.
  std::shared_ptr<CachedText> parse(std::string_view text, std::span<const Oid> declared_types,
                                    bool parameters_allowed);
  // The same without the cache. A long text is parsed elsewhere, which the session may not live to
  // see: throws 57014 as well.
  std::shared_ptr<CachedText> parse_apart(std::string_view text,
                                          std::span<const Oid> declared_types);
  // Statement `index` of the text, planned and described. An empty text has statement 0, the empty
  // query. Needs a begun transaction.
  std::shared_ptr<PreparedStatement> prepare(std::shared_ptr<CachedText> text, size_t index,
                                             bool parameters_allowed);
  // Another node of the same text: what stands behind PREPARE ... AS, or the arguments of EXECUTE.
  std::shared_ptr<PreparedStatement> prepare_node(std::shared_ptr<CachedText> text,
                                                  const ast::Node* node,
                                                  std::span<const Oid> declared_types,
                                                  bool parameters_allowed);
  // The session's plans are made again when they are needed.
  void forget_plans();
  // Plans again when the catalog changed since; throws 0A000 when the result would be described
  // differently. One that the session has brought along settles here.
  void revalidate(PreparedStatement& statement);
  // 25006 if the transaction may not run it.
  void check_permitted(const ExecutablePlan& plan) const;
  // Of a portal that has its parameters and whose statement is valid: by which plan it runs.
  // Returns whether PostgreSQL would count it as one for these values.
  bool choose_plan(Portal& portal, bool is_named);
  // What domains allow of a parameter's type is asked now, and stays so until the transaction has
  // committed.
  void rest_on_domains(Oid type);
  // For EXPLAIN of a named statement: the plan that PostgreSQL would run it by.
  std::shared_ptr<const ExecutablePlan> plan_to_show(Portal& portal);

  struct Outcome {
    bool suspended = false;
    std::string_view tag;  // valid until the next run
  };
  // Up to `row_limit` rows (0: all) go to the reply as DataRows.
  Outcome run(const std::shared_ptr<Portal>& portal, uint64_t row_limit);

  // Begins a cursor's query: it will show nothing of what its transaction changes from here on.
  void open_cursor(Portal& portal);
  // Has a cursor's query make up to so many more rows. False: there are no more.
  bool pull(Portal& portal, uint64_t count);

  // run() has failed. What it said and has not left is taken back if it rests on what was not so.
  void end_piece(bool took_place);

  // Enters an implicit transaction if there is none. In a failed block only its end may pass, and
  // what is no statement (null); others are refused (25P02).
  void begin(const ast::Node* node);

 private:
  std::shared_ptr<PreparedStatement> with_text(std::shared_ptr<CachedText> text,
                                               size_t index) const;
  void settle(PreparedStatement& statement);
  void take_from_here(PreparedStatement& statement);
  // `values`: of the parameters, for a plan that is for these only; null: for all.
  std::shared_ptr<const ExecutablePlan> plan(const PreparedStatement& statement,
                                             bool parameters_allowed,
                                             const std::vector<Datum>* values = nullptr);
  // Somebody has changed what this statement needs, and does not tell yet.
  void await_catalog(RetryPolicy& patience);
  // False: somebody has changed one.
  bool use_domains(Oid type);
  std::shared_ptr<const ExecutablePlan> find_or_make_plan(
      const PreparedStatement& statement, bool parameters_allowed,
      const std::vector<Datum>* values = nullptr);
  bool depends_on_values(const PreparedStatement& statement, const PlanChoice& choice);
  bool wants_own_plan(const PreparedStatement& statement, const PlanChoice& choice);
  void describe(PreparedStatement& statement, bool parameters_allowed);
  Outcome run_plan(Portal& portal, uint64_t row_limit);
  Outcome run_once(Portal& portal, uint64_t row_limit);
  std::optional<TransactionControl::StatementMark> mark_definition(const Portal& portal);
  bool may_restart(const Portal& portal, const Reply::Position& begin, CommandId before) const;
  void restart(const Reply::Position& begin, TransactionStatus conflict);
  void count_rows(const ExecutablePlan& plan, uint64_t rows);
  // Of a finished portal that returns rows, asked for more.
  static std::string tag_without_rows(const Portal& portal);
  void start(Portal& portal);
  int64_t now_us() const { return state_.context.statement_timestamp_us; }
  StatementPlace place() const;
  bool is_last() const;
  bool is_separate(const PreparedStatement& statement) const;
  void start_definition(const PreparedStatement& statement);

  SessionState& state_;
  SessionCommands& commands_;
  RetryPolicy retry_;                     // of the running statement
  std::optional<Reply::Position> piece_;  // where what it says in this run() begins
  std::string key_;                       // reused
  std::string tag_;
};

}  // namespace pgsilo
