#include "executor/executable_plan.h"

#include "catalog/catalog_view.h"
#include "catalog/descriptors.h"
#include "executor/compiled_statement.h"
#include "executor/expression/membership_set.h"
#include "executor/operator/cte.h"
#include "executor/plan_compiler.h"
#include "executor/table_lock.h"
#include "executor/table_statistics.h"
#include "executor/transaction_status.h"
#include "executor/utility_command.h"
#include "planner/plan/transaction_plan.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/types/type.h"

namespace pgsilo {
namespace {

// Operators differ, but not by much.
constexpr size_t operator_bytes = 512;

size_t bytes_of(const CompiledStatement& compiled) {
  size_t bytes = sizeof compiled + compiled.arena.bytes_reserved() +
                 compiled.operators.size() * operator_bytes +
                 compiled.subplans.capacity() * sizeof(CompiledSubplan) +
                 compiled.ctes.capacity() * sizeof(CompiledCte) +
                 compiled.registers.capacity() * sizeof(Datum);
  for (const auto& set : compiled.constant_sets) bytes += sizeof *set + set->bytes_reserved();
  for (const PlannedStatement* planned = compiled.planned.get(); planned != nullptr;
       planned = planned->inner.get()) {
    bytes += sizeof *planned + planned->arena.bytes_reserved();
  }
  return bytes;
}

}  // namespace

ExecutablePlan::ExecutablePlan(std::unique_ptr<const CompiledStatement> compiled)
    : compiled_(std::move(compiled)) {
  const PlannedStatement& planned = *compiled_->planned;
  catalog_version_ = planned.catalog_version;
  parameter_types_.assign(planned.parameter_types.begin(), planned.parameter_types.end());
  for (const PlannedColumn& column : planned.result_columns) {
    const TypeInfo* type = find_type(column.type);
    result_columns_.push_back({std::string(column.name), column.type, column.typmod,
                               type == nullptr ? int16_t{-1} : type->typlen, column.table,
                               column.column_number});
  }
  bytes_ = sizeof *this + result_columns_.capacity() * sizeof(ResultColumn) + bytes_of(*compiled_);
  zero_column_rows_ = planned.returns_rows && planned.result_columns.empty();
  read_only_ = planned.read_only;
  only_reads_ = read_only_ && !planned.calls_volatile;
  if (!planned.estimated_parameters.empty() || planned.parameters_decide)
    dependence_ = Dependence::unknown;
  switch (planned.kind) {
    case PlannedKind::query:
      kind_ = StatementKind::query;
      command_ = "SELECT";
      if (!planned.lock_clause.empty()) command_name_ = concat("SELECT ", planned.lock_clause);
      return;
    case PlannedKind::insert:
      kind_ = StatementKind::dml;
      command_ = "INSERT 0";
      command_name_ = "INSERT";
      return;
    case PlannedKind::update:
      kind_ = StatementKind::dml;
      command_ = "UPDATE";
      return;
    case PlannedKind::delete_:
      kind_ = StatementKind::dml;
      command_ = "DELETE";
      return;
    case PlannedKind::explain:
    case PlannedKind::utility:
      kind_ = compiled_->utility->kind();
      command_ = compiled_->utility->tag();
      command_name_ = compiled_->utility->command_name();
      read_only_ = compiled_->utility->read_only();
      only_reads_ = compiled_->utility->only_reads();
      return;
  }
}

ExecutablePlan::~ExecutablePlan() = default;

double ExecutablePlan::cost() const {
  const PlanNode* root = compiled_->planned->root;
  return root == nullptr ? 0 : root->total_cost;
}

bool ExecutablePlan::cacheable() const {
  return compiled_->planned->cacheable && bytes() <= limits::max_kept_plan_bytes;
}

bool ExecutablePlan::still_valid(const CatalogView& view, int64_t now_us) const {
  return rests_on_the_same(view) && fits_sizes(now_us);
}

bool ExecutablePlan::reads_tables() const {
  return std::ranges::any_of(compiled_->planned->tables, [](const TableDescriptor* table) {
    return table->kind != RelationKind::sequence;
  });
}

bool ExecutablePlan::reads(uint32_t table) const {
  return std::ranges::find(compiled_->planned->tables, table, &TableDescriptor::oid) !=
         compiled_->planned->tables.end();
}

bool ExecutablePlan::locks_rows() const { return !compiled_->planned->lock_clause.empty(); }

bool ExecutablePlan::lock_tables(Transaction& transaction) const {
  const PlannedStatement& planned = *compiled_->planned;
  for (size_t i = 0; i < planned.tables.size(); ++i) {
    const TableDescriptor& table = *planned.tables[i];
    if (table.kind == RelationKind::sequence || table.relation == nullptr) continue;
    TransactionStatus status = lock_table(transaction, table, planned.table_uses[i]);
    if (status == TransactionStatus::conflict_record) return false;
    if (status != TransactionStatus::ok) raise_transaction_status(status);
  }
  return true;
}

// Plans that do not fit any more stay unfit, so that everybody who has one takes another.
bool ExecutablePlan::fits_sizes(int64_t now_us) const {
  int64_t seen_us = sizes_fitted_us_.load(std::memory_order_relaxed);
  // A clock that was set back makes no difference.
  if (seen_us <= now_us && now_us < seen_us + limits::plan_size_check_us) return true;
  if (!fits_statistics(*compiled_->planned, relation_statistics())) return false;
  sizes_fitted_us_.store(now_us, std::memory_order_relaxed);
  return true;
}

bool ExecutablePlan::rests_on_the_same(const CatalogView& view) const {
  if (view.name_path() != compiled_->planned->name_path) return false;
  if (view.version() == catalog_version_.load(std::memory_order_relaxed)) return true;
  if (!has_the_same(view)) return false;
  // The next one need not look again. Which of several versions is remembered makes no difference.
  catalog_version_.store(view.version(), std::memory_order_relaxed);
  return true;
}

bool ExecutablePlan::has_the_same(const CatalogView& view) const {
  const PlannedStatement& planned = *compiled_->planned;
  // By the same path a name may mean something else now even if the table itself is as it was; so
  // only plans over equal tables of the same names survive.
  for (const TableDescriptor* table : planned.tables) {
    if (view.find_table(table->oid) != table) return false;
    const TableDescriptor* named = view.find_table({}, table->name);
    if (named != nullptr && named != table && named->schema != table->schema) return false;
  }
  for (const auto& type : planned.user_types) {
    if (view.find_type(type->address.oid) != type) return false;
    auto named = view.find_type({}, type->name);
    if (named != nullptr && named != type && named->schema != type->schema) return false;
  }
  return planned.kind != PlannedKind::utility && planned.kind != PlannedKind::explain;
}

std::shared_ptr<const ExecutablePlan> compile(std::shared_ptr<const PlannedStatement> planned) {
  auto compiled = std::make_unique<CompiledStatement>();
  compiled->planned = planned;
  if (planned->kind == PlannedKind::explain || planned->kind == PlannedKind::utility) {
    compiled->utility = make_utility_command(planned);
    // It may hand them on to a query inside.
    compiled->parameter_count = static_cast<uint32_t>(planned->parameter_types.size());
    compiled->registers.resize(compiled->parameter_count);
  } else {
    PlanCompiler compiler(*compiled, *planned);
    for (const PlanNode* cte : planned->ctes) {
      const CompiledOperator* plan = compiler.compile(cte);
      compiled->ctes.push_back({plan, RowShape(plan->output, cte->columns)});
    }
    compiled->root = compiler.compile(planned->root);
  }
  return std::make_shared<const ExecutablePlan>(std::move(compiled));
}

}  // namespace pgsilo
