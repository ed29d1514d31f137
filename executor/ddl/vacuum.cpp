// VACUUM and ANALYZE: there is no garbage to collect by hand, and row counts are kept as rows
// change; what columns hold is looked at again (docs/statistics.md). The statements are checked as
// PostgreSQL checks them.
#include "executor/ddl/vacuum.h"

#include <algorithm>

#include "catalog/catalog_view.h"
#include "executor/execution_state.h"
#include "planner/plan/transaction_plan.h"
#include "sql/ast/option_value.h"
#include "sql/ast/utility.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

class Vacuum final : public UtilityCommand {
 public:
  explicit Vacuum(std::shared_ptr<const PlannedStatement> planned) : planned_(std::move(planned)) {}

  StatementKind kind() const override { return StatementKind::utility; }
  std::string_view tag() const override { return syntax().is_analyze ? "ANALYZE" : "VACUUM"; }
  bool read_only() const override { return true; }

  void run(ExecutionState& state, ResultSink&) const override {
    if (analyzes() && syntax().targets.empty()) {
      for (const auto& [oid, table] : state.session.catalog->snapshot().tables()) {
        analyze(*table);
        state.session.check_budget();
      }
    }
    for (const ast::VacuumTarget& target : syntax().targets) {
      const ast::RangeVar& name = *target.relation;
      const TableDescriptor* table = state.session.catalog->find_table(name.schema_name, name.name);
      if (table == nullptr) {
        throw SqlError(sqlstate::undefined_table,
                       concat("relation \"", name.name, "\" does not exist"));
      }
      for (std::string_view column : target.columns) {
        if (table->find_column(column) != nullptr) continue;
        throw SqlError(sqlstate::undefined_column, concat("column \"", column, "\" of relation \"",
                                                          table->name, "\" does not exist"));
      }
      if (analyzes()) analyze(*table);
    }
  }

 private:
  static void analyze(const TableDescriptor& table) {
    if (table.relation != nullptr) table.statistics->refresh(table);
  }
  bool analyzes() const {
    return syntax().is_analyze ||
           std::any_of(
               syntax().options.begin(), syntax().options.end(), [](const ast::DefElem& option) {
                 return option.name == "analyze" && ast::boolean_option(option).value_or(true);
               });
  }
  const ast::VacuumStmt& syntax() const { return *ast::as<ast::VacuumStmt>(planned_->syntax); }
  std::shared_ptr<const PlannedStatement> planned_;
};

}  // namespace

std::unique_ptr<const UtilityCommand> make_vacuum(
    const std::shared_ptr<const PlannedStatement>& planned) {
  return std::make_unique<Vacuum>(planned);
}

}  // namespace pgsilo
