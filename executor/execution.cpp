#include "executor/execution.h"

#include <optional>

#include "executor/compiled_statement.h"
#include "executor/constraint/referential_actions.h"
#include "executor/executable_plan.h"
#include "executor/execution_state.h"
#include "executor/held_rows.h"
#include "executor/operator/operator.h"
#include "executor/result_sink.h"
#include "executor/utility_command.h"
#include "planner/plan/transaction_plan.h"

namespace pgsilo {

namespace {

// The session's arena is the operators' while they run.
class ArenaGuard {
 public:
  explicit ArenaGuard(TypeContext& types) : types_(types), arena_(types.arena) {}
  ~ArenaGuard() { types_.arena = arena_; }
  ArenaGuard(const ArenaGuard&) = delete;
  ArenaGuard& operator=(const ArenaGuard&) = delete;

 private:
  TypeContext& types_;
  Arena* arena_;
};

}  // namespace

struct ExecutionRun {
  ExecutionRun(std::shared_ptr<const ExecutablePlan> plan, ExecutionContext& session)
      : state(std::move(plan), session) {
    if (state.compiled.root != nullptr) row.resize(state.compiled.root->output.size());
  }

  // Delivers up to `limit` rows of the root; true when there are no more.
  bool pull(ResultSink& sink, uint64_t limit) {
    uint64_t count = 0;
    for (; count < limit && state.root->next(); ++count) deliver(sink);
    delivered = count;
    return count < limit;
  }

  void deliver(ResultSink& sink) {
    const std::vector<Register>& output = state.compiled.root->output;
    for (size_t i = 0; i < row.size(); ++i) row[i] = state.registers[output[i]];
    sink.row(row);
  }

  // READ COMMITTED: once a part of the answer has left, no conflict may come. Who only reads goes
  // on at a snapshot then; who writes or locks rows has to be at its end, as PostgreSQL is when it
  // begins to send what RETURNING returns.
  bool answers_at_its_end() {
    const Transaction& transaction = state.transaction();
    return !state.plan->read_only() && state.plan->returns_rows() &&
           transaction.mode() == TransactionMode::interactive &&
           transaction.isolation() == Isolation::read_committed;
  }

  // To the end, whatever the limit; what it returns may wait.
  bool run_whole(ResultSink& sink, uint64_t limit) {
    if (limit == UINT64_MAX && !answers_at_its_end()) {
      pull(sink, limit);
      end();
      return true;
    }
    held.emplace(state.plan->result_columns(), state.session);
    while (state.root->next()) deliver(*held);
    end();
    return hand_out(sink, limit);
  }

  // A command runs to its end, too.
  bool run_command(ResultSink& sink, uint64_t limit) {
    bool holds = limit != UINT64_MAX && state.plan->returns_rows();
    if (holds) held.emplace(state.plan->result_columns(), state.session);
    state.compiled.utility->run(state, holds ? static_cast<ResultSink&>(*held) : sink);
    end();
    return !holds || hand_out(sink, limit);
  }

  bool hand_out(ResultSink& sink, uint64_t limit) {
    delivered = held->hand_out(sink, limit);
    if (delivered == limit) return false;
    held.reset();  // who runs it again later need not keep them until then
    return true;
  }

  void end() {
    state.close();
    if (state.reference_events != nullptr)
      state.session.references->settle(std::move(state.reference_events));
    bool changes_catalog = state.root == nullptr && !state.plan->read_only();
    state.check(state.transaction().end_statement(changes_catalog));
    state.finished = true;
  }

  ExecutionState state;
  std::optional<HeldRows> held;  // what is handed out later
  bool is_whole = false;         // everything was run
  bool is_open = false;          // so is the root
  std::vector<Datum> row;
  uint64_t delivered = 0;
  bool changes_rows = false;  // the last run() may have
  std::string tag;
};

Execution::Execution(std::shared_ptr<const ExecutablePlan> plan, ExecutionContext& context,
                     std::span<const Datum> parameters)
    : run_(std::make_unique<ExecutionRun>(std::move(plan), context)) {
  run_->state.start(parameters);
}

Execution::~Execution() { run_->state.close(); }

void Execution::restart(std::span<const Datum> parameters) {
  run_->state.close();
  run_->held.reset();
  run_->is_whole = false;
  run_->is_open = false;
  run_->state.start(parameters);
}

void Execution::begin() {
  ExecutionState& state = run_->state;
  state.begin_statement();
  state.check(state.transaction().end_statement());
}

RunStatus Execution::run(ResultSink& sink, uint64_t row_limit) {
  ExecutionState& state = run_->state;
  ArenaGuard guard(state.session.types);
  uint64_t limit = row_limit == no_row_limit ? UINT64_MAX : row_limit;
  run_->delivered = 0;
  run_->changes_rows = false;
  if (state.finished) return RunStatus::done;
  if (run_->is_whole) {
    bool done = run_->hand_out(sink, limit);
    state.finished = done;
    return done ? RunStatus::done : RunStatus::suspended;
  }
  if (!state.started) {
    state.begin_statement();
  } else {
    state.transaction().resume_statement(state.command);
  }
  if (!run_->is_open && state.root != nullptr) state.root->open();
  run_->is_open = true;
  run_->changes_rows = true;
  // Changes are made at once; and what one statement reads fits together, whenever it is fetched.
  bool fits_together =
      state.transaction().isolation() != Isolation::read_committed || !state.plan->reads_tables();
  if (state.root == nullptr || state.plan->kind() == StatementKind::dml || !fits_together) {
    bool done =
        state.root == nullptr ? run_->run_command(sink, limit) : run_->run_whole(sink, limit);
    run_->is_whole = true;
    state.finished = done;
    return done ? RunStatus::done : RunStatus::suspended;
  }
  if (run_->pull(sink, limit)) {
    run_->end();
    return RunStatus::done;
  }
  // What was delivered may leave now: it has to be true.
  state.check(state.transaction().end_statement());
  return RunStatus::suspended;
}

void Execution::run_nested(ResultSink& sink, uint64_t row_limit) {
  ExecutionState& state = run_->state;
  ArenaGuard guard(state.session.types);
  state.nested = true;
  state.begin_statement();
  state.root->open();
  run_->pull(sink, row_limit == no_row_limit ? UINT64_MAX : row_limit);
  state.close();
  state.finished = true;
}

std::unique_ptr<ReferenceQueue> Execution::take_reference_events() {
  return std::move(run_->state.reference_events);
}

std::string_view Execution::command_tag() {
  const ExecutionState& state = run_->state;
  std::string& tag = run_->tag;
  tag.assign(state.plan->command());
  if (state.root == nullptr && !state.compiled.utility->tag_counts_rows()) return tag;
  if (state.ran_no_query) {
    tag.assign(state.compiled.utility->command_name());
    return tag;
  }
  char digits[24];
  char* end = digits + sizeof digits;
  char* at = end;
  uint64_t count = rows_processed();
  do {
    *--at = static_cast<char>('0' + count % 10);
    count /= 10;
  } while (count != 0);
  tag.push_back(' ');
  tag.append(at, end);
  return tag;
}

uint64_t Execution::rows_processed() const {
  const ExecutablePlan& plan = *run_->state.plan;
  bool delivers = plan.kind() == StatementKind::query ||
                  (plan.kind() == StatementKind::dml && plan.returns_rows());
  return delivers ? run_->delivered : run_->state.rows_processed;
}

uint64_t Execution::rows_changed() const {
  StatementKind kind = run_->state.plan->kind();
  bool changes = kind == StatementKind::dml || kind == StatementKind::copy_in;
  return changes && run_->changes_rows ? run_->state.rows_processed : 0;
}

}  // namespace pgsilo
