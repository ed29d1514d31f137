#include "executor/constraint/referential_actions.h"

#include <algorithm>

#include "base/memory_budget.h"
#include "catalog/catalog_view.h"
#include "executor/constraint/key_text.h"
#include "executor/executable_plan.h"
#include "executor/execution.h"
#include "executor/execution_context.h"
#include "executor/plan_cache.h"
#include "executor/result_sink.h"
#include "executor/statement_planner.h"
#include "executor/transaction_status.h"
#include "sql/ast/node.h"
#include "sql/internal_error.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"

namespace pgsilo {

struct ReferentialActions::Plan {
  std::shared_ptr<const ExecutablePlan> plan;
  std::unique_ptr<Execution> idle;  // of an earlier run
};

namespace {

const ColumnDescriptor& column_at(const TableDescriptor& table, int16_t number) {
  return table.columns[static_cast<size_t>(number) - 1];
}

bool was_disturbed(TransactionStatus status) {
  return status == TransactionStatus::conflict_node ||
         status == TransactionStatus::conflict_record ||
         status == TransactionStatus::conflict_unique;
}

// Adds `more`, which may be null, to `queue`, which may be null.
void take_over(std::unique_ptr<ReferenceQueue>& queue, std::unique_ptr<ReferenceQueue> more) {
  if (more == nullptr) return;
  if (queue == nullptr) {
    queue = std::move(more);
    return;
  }
  queue->events.insert(queue->events.end(), more->events.begin(), more->events.end());
  queue->kept.push_back(std::move(more));
}

class CountingSink final : public ResultSink {
 public:
  void row(std::span<const Datum>) override { ++rows; }
  uint64_t rows = 0;
};

}  // namespace

ReferentialActions::ReferentialActions(ExecutionContext& context) : context_(context) {}

ReferentialActions::~ReferentialActions() = default;

ReferentialActions::Subject ReferentialActions::subject_of(const ReferenceEvent& event) const {
  const CatalogView& view = *context_.catalog;
  const TableDescriptor* table = view.find_table(event.reference.table);
  PGSILO_REQUIRE(table != nullptr);
  const ConstraintDescriptor* constraint = table->find_constraint(event.reference.constraint);
  PGSILO_REQUIRE(constraint != nullptr);
  return {*table, *constraint, *view.find_table(constraint->foreign_key->referenced_table)};
}

void ReferentialActions::settle(std::unique_ptr<ReferenceQueue> queue) {
  if (queue == nullptr || queue->events.empty()) return;
  checks_.clear();
  std::vector<std::unique_ptr<ReferenceQueue>> levels;
  levels.push_back(std::move(queue));
  settle_levels(levels);
}

void ReferentialActions::settle_levels(std::vector<std::unique_ptr<ReferenceQueue>>& levels) {
  while (!levels.empty()) {
    ReferenceQueue& level = *levels.back();
    if (level.next == level.events.size()) {
      levels.pop_back();
      continue;
    }
    context_.maybe_yield();
    ReferenceEvent& event = level.events[level.next];
    bool comes_back = false;
    std::unique_ptr<ReferenceQueue> deeper = settle_event(event, &comes_back);
    if (!comes_back) ++level.next;
    if (deeper != nullptr && !deeper->events.empty()) levels.push_back(std::move(deeper));
  }
}

std::unique_ptr<ReferenceQueue> ReferentialActions::settle_event(ReferenceEvent& event,
                                                                 bool* comes_back) {
  Subject subject = subject_of(event);
  if (defers(subject, event)) {
    defer(subject, event);
    return nullptr;
  }
  if (event.kind == ReferenceEvent::Kind::refers) {
    check_reference(subject, event);
    return nullptr;
  }
  // Whoever would refer to the row waits for us from here on, or is seen (docs/foreign_keys.md).
  require_ok_status(context_.transaction->become_interactive());
  Transaction::read_behind_locks();
  switch (action_of(subject, event)) {
    case ReferentialAction::no_action:
      if (!is_there(subject, event)) refuse_references(subject, event);
      return nullptr;
    case ReferentialAction::restrict:
      refuse_references(subject, event);
      return nullptr;
    case ReferentialAction::cascade:
      return run(subject,
                 event.kind == ReferenceEvent::Kind::removed ? ReferentialStep::remove
                                                             : ReferentialStep::follow,
                 event);
    case ReferentialAction::set_null:
      return run(subject, ReferentialStep::set_null, event);
    case ReferentialAction::set_default:
      break;
  }
  // A row whose default is the key that has gone refers to it still, and did not change.
  if (event.acted) {
    if (!is_there(subject, event)) refuse_references(subject, event);
    return nullptr;
  }
  event.acted = *comes_back = true;
  return run(subject, ReferentialStep::set_default, event);
}

ReferentialAction ReferentialActions::action_of(const Subject& subject,
                                                const ReferenceEvent& event) {
  return event.kind == ReferenceEvent::Kind::removed ? subject.key().on_delete
                                                     : subject.key().on_update;
}

ReferenceCheck& ReferentialActions::check_of(const Subject& subject) {
  std::unique_ptr<ReferenceCheck>& made = checks_[subject.constraint.oid];
  if (made == nullptr)
    made = std::make_unique<ReferenceCheck>(context_, subject.table, subject.constraint);
  return *made;
}

// The row as it is by now: it may refer to something else, or be gone.
void ReferentialActions::check_reference(const Subject& subject, const ReferenceEvent& event) {
  Arena memory;
  RowBuffer buffer(memory);
  RowRef row;
  TransactionStatus status = context_.transaction->get(*subject.table.relation, event.row_key,
                                                       buffer, &row, ReadPurpose::peek);
  if (status == TransactionStatus::not_found) return;
  require_ok_status(status);
  std::vector<Datum> values(subject.table.columns.size());
  Arena padding;
  subject.table.layout.decode(row.row, values, padding);
  ReferenceCheck& reference = check_of(subject);
  if (!reference.holds(values)) reference.raise(values);
}

// Another row may have the key by now.
bool ReferentialActions::is_there(const Subject& subject, const ReferenceEvent& event) {
  return check_of(subject).is_there(event.old_values);
}

void ReferentialActions::refuse_references(const Subject& subject, const ReferenceEvent& event) {
  bool found = false;
  run(subject, ReferentialStep::look, event, &found);
  if (!found) return;
  require_ok_status(context_.transaction->validate());
  std::vector<Datum> row(subject.referenced.columns.size());
  const std::vector<int16_t>& columns = subject.key().referenced_columns;
  for (size_t i = 0; i < columns.size(); ++i)
    row[static_cast<size_t>(columns[i]) - 1] = event.old_values[i];
  throw SqlError(sqlstate::foreign_key_violation,
                 concat("update or delete on table \"", subject.referenced.name,
                        "\" violates foreign key constraint \"", subject.constraint.name,
                        "\" on table \"", subject.table.name, "\""))
      .detail(concat("Key ", key_text(subject.referenced, columns, row, context_.types),
                     " is still referenced from table \"", subject.table.name, "\"."))
      .table(subject.table.schema_name, subject.table.name)
      .constraint(subject.constraint.name);
}

std::unique_ptr<ReferenceQueue> ReferentialActions::run(const Subject& subject,
                                                        ReferentialStep step,
                                                        const ReferenceEvent& event, bool* found) {
  std::vector<Datum> parameters(event.new_values.begin(), event.new_values.end());
  if (step != ReferentialStep::follow) parameters.clear();
  parameters.insert(parameters.end(), event.old_values.begin(), event.old_values.end());
  Plan& made = plan(subject, step, event.kind == ReferenceEvent::Kind::removed);
  std::unique_ptr<Execution> execution = std::move(made.idle);
  if (execution == nullptr)
    execution = std::make_unique<Execution>(made.plan, context_, parameters);
  bool looks = step == ReferentialStep::look;
  Transaction& transaction = *context_.transaction;
  std::unique_ptr<ReferenceQueue> left;
  // Rows may move about in their trees while we look for them (other columns, other keys of
  // theirs): until all were seen at one moment; and if others leave none, they have to wait.
  TransactionStatus status = TransactionStatus::conflict_node;
  for (uint32_t round = 0; was_disturbed(status); ++round) {
    if (round == limits::disturbed_referential_rounds) {
      require_ok_status(
          transaction.lock_relation(*subject.table.relation, LockMode::share_row_exclusive));
    } else if (round > 2 * limits::disturbed_referential_rounds) {
      raise_transaction_status(status);
    }
    Transaction::Part part = transaction.begin_part();
    CountingSink sink;
    execution->restart(parameters);
    TransactionStatus ran = TransactionStatus::ok;
    try {
      execution->run_nested(sink, looks ? 1 : Execution::no_row_limit);
    } catch (const TransactionConflict& conflict) {
      if (!was_disturbed(conflict.status())) throw;
      ran = conflict.status();
    }
    take_over(left, execution->take_reference_events());
    if (found != nullptr) *found = sink.rows != 0;
    status = transaction.end_part(part);
    if (status == TransactionStatus::ok) status = ran;
    context_.maybe_yield();
  }
  require_ok_status(status);
  made.idle = std::move(execution);
  return left;
}

ReferentialActions::Plan& ReferentialActions::plan(const Subject& subject, ReferentialStep step,
                                                   bool on_delete) {
  uint32_t kind = 2 * static_cast<uint32_t>(step) + (on_delete ? 1 : 0);
  std::pair<Oid, uint32_t> key = {subject.constraint.oid, kind};
  if (!plans_.contains(key)) make_room();
  Plan& made = plans_[key];
  std::vector<Oid> types;
  size_t copies = step == ReferentialStep::follow ? 2 : 1;
  for (size_t i = 0; i < copies; ++i) {
    for (int16_t number : subject.key().referenced_columns)
      types.push_back(column_at(subject.referenced, number).type);
  }
  // The plan itself need not rest on the table that is referred to.
  if (made.plan != nullptr &&
      made.plan->still_valid(*context_.catalog, context_.statement_timestamp_us) &&
      std::equal(types.begin(), types.end(), made.plan->parameter_types().begin(),
                 made.plan->parameter_types().end())) {
    return made;
  }
  made.idle.reset();
  std::shared_ptr<CachedText> text = parse_text(query_text(subject, step, on_delete), types);
  made.plan =
      StatementPlanner(context_).prepare({.statement = text->syntax->statements[0].statement,
                                          .owner = text->syntax,
                                          .text = text->syntax->text,
                                          .declared_parameter_types = types});
  ++plans_made_;
  return made;
}

void ReferentialActions::forget_plans() { plans_.clear(); }

// For one plan more. The events of a statement ask for the plans of all foreign keys of its table
// row by row, so that none is of use where they are not all kept.
void ReferentialActions::make_room() {
  if (plans_.size() < limits::free_referential_plans) return;
  if (plans_.size() >= stale_plans_looked_for_at_) {
    std::erase_if(plans_, [&](const auto& each) {
      const ExecutablePlan* plan = each.second.plan.get();
      return plan == nullptr ||
             !plan->still_valid(*context_.catalog, context_.statement_timestamp_us);
    });
    stale_plans_looked_for_at_ = std::max(limits::free_referential_plans, 2 * plans_.size());
  }
  if (!memory_admits(limits::referential_plan_bytes)) plans_.clear();
}

// Parameters: the new values (follow only), then the old ones, as the referenced columns have them.
std::string ReferentialActions::query_text(const Subject& subject, ReferentialStep step,
                                           bool on_delete) {
  Arena arena;
  auto name = [&](int16_t number) {
    return quote_identifier(column_at(subject.table, number).name, arena);
  };
  const std::vector<int16_t>& columns = subject.constraint.columns;
  std::string table = concat(quote_identifier(subject.table.schema_name, arena), ".",
                             quote_identifier(subject.table.name, arena));
  size_t first = step == ReferentialStep::follow ? columns.size() + 1 : 1;
  std::string where;
  for (size_t i = 0; i < columns.size(); ++i)
    where += concat(i == 0 ? " WHERE " : " AND ", name(columns[i]), " = $", first + i);
  if (step == ReferentialStep::look)
    return concat("SELECT 1 FROM ONLY ", table, " x", where, " FOR KEY SHARE OF x");
  if (step == ReferentialStep::remove) return concat("DELETE FROM ONLY ", table, where);
  bool names_columns = on_delete && !subject.key().on_delete_columns.empty();
  std::string set;
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::vector<int16_t>& chosen = subject.key().on_delete_columns;
    if (names_columns && std::find(chosen.begin(), chosen.end(), columns[i]) == chosen.end())
      continue;
    std::string value = step == ReferentialStep::follow     ? concat("$", i + 1)
                        : step == ReferentialStep::set_null ? "NULL"
                                                            : "DEFAULT";
    set += concat(set.empty() ? " SET " : ", ", name(columns[i]), " = ", value);
  }
  return concat("UPDATE ONLY ", table, set, where);
}

}  // namespace pgsilo
