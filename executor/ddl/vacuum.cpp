// VACUUM and ANALYZE: there is no garbage to collect by hand, and row counts are kept as rows
// change; what columns hold is looked at again (docs/statistics.md). VACUUM FULL stores tables
// anew. The statements are checked as PostgreSQL checks them.
#include "executor/ddl/vacuum.h"

#include <algorithm>

#include "catalog/named_relation.h"
#include "executor/ddl/ddl_command.h"
#include "executor/execution_state.h"
#include "planner/plan/transaction_plan.h"
#include "sql/ast/option_value.h"
#include "sql/ast/utility.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/text_position.h"
#include "sql/types/scan.h"

namespace pgsilo {

namespace {

// Of what VACUUM may be told only `analyze` changes anything; the rest is checked, in PostgreSQL's
// order and words.
class VacuumOptions {
 public:
  VacuumOptions(const ast::VacuumStmt& statement, std::string_view text)
      : statement_(statement), text_(text), analyze_(statement.is_analyze) {
    for (const ast::DefElem& option : statement.options) read(option);
    if (full_ && parallel_) refuse("VACUUM FULL cannot be performed in parallel");
    bool has_columns = std::ranges::any_of(statement_.targets, [](const ast::VacuumTarget& target) {
      return !target.columns.empty();
    });
    if (has_columns && !analyze_)
      refuse("ANALYZE option must be specified when a column list is provided");
  }

  bool analyze() const { return analyze_; }
  // What PostgreSQL looks at when the statement is about to run.
  void check(StatementPlace place) const {
    if (!statement_.is_analyze) refuse_in_block(place, "VACUUM");
    if (full_ && disable_page_skipping_)
      refuse("VACUUM option DISABLE_PAGE_SKIPPING cannot be used with FULL");
    if (full_ && !process_toast_) refuse("PROCESS_TOAST required with VACUUM FULL");
  }

 private:
  void read(const ast::DefElem& option) {
    bool* known = find(option.name);
    if (known != nullptr) {
      *known = ast::require_boolean_option(option);
    } else if (!statement_.is_analyze && option.name == "index_cleanup") {
      if (!is_auto(option)) ast::require_boolean_option(option);
    } else if (!statement_.is_analyze && option.name == "parallel") {
      parallel_ = workers_of(option) > 0;
    } else {
      throw SqlError(sqlstate::syntax_error,
                     concat("unrecognized ", statement_.is_analyze ? "ANALYZE" : "VACUUM",
                            " option \"", option.name, "\""))
          .at(character_position(text_, option.location));
    }
  }

  bool* find(std::string_view name) {
    if (name == "verbose" || name == "skip_locked") return &ignored_;
    if (statement_.is_analyze) return nullptr;
    if (name == "analyze") return &analyze_;
    if (name == "full") return &full_;
    if (name == "disable_page_skipping") return &disable_page_skipping_;
    if (name == "process_toast") return &process_toast_;
    return name == "freeze" || name == "truncate" ? &ignored_ : nullptr;
  }

  static bool is_auto(const ast::DefElem& option) {
    const auto* constant = ast::try_as<ast::Constant>(option.argument);
    return constant != nullptr && equal_ignoring_case(constant->text, "auto");
  }

  int64_t workers_of(const ast::DefElem& option) const {
    constexpr int64_t most = limits::max_parallel_workers;
    const auto* constant = ast::try_as<ast::Constant>(option.argument);
    const char* problem = "parallel option requires a value between 0 and ";
    if (constant != nullptr) {
      if (constant->constant_kind != ast::ConstantKind::integer) {
        throw SqlError(sqlstate::syntax_error, concat(option.name, " requires an integer value"));
      }
      if (constant->integer >= 0 && constant->integer <= most) return constant->integer;
      problem = "parallel workers for vacuum must be between 0 and ";
    }
    throw SqlError(sqlstate::syntax_error, concat(problem, most))
        .at(character_position(text_, option.location));
  }

  [[noreturn]] static void refuse(const char* why) {
    throw SqlError(sqlstate::feature_not_supported, why);
  }

  const ast::VacuumStmt& statement_;
  const std::string_view text_;
  bool analyze_;
  bool full_ = false;
  bool disable_page_skipping_ = false;
  bool process_toast_ = true;
  bool parallel_ = false;
  bool ignored_ = false;
};

bool is_plain_table(const TableDescriptor* table) {
  return table != nullptr && table->relation != nullptr && table->kind == RelationKind::table;
}

// What the statement names, or all tables.
class VacuumTargets {
 public:
  VacuumTargets(const ast::VacuumStmt& statement, const ExecutionState& state)
      : statement_(statement), state_(state) {}

  template <typename F>
  void for_each(const F& f) const {
    const CatalogView& catalog = *state_.session.catalog;
    if (statement_.targets.empty()) {
      for (const auto& [oid, table] : catalog.snapshot().tables()) {
        if (table->relation != nullptr) f(*table);
        state_.session.check_budget();
      }
    }
    // All of them are looked up before anything is done.
    for (const ast::VacuumTarget& target : statement_.targets) find(target);
    for (const ast::VacuumTarget& target : statement_.targets) {
      const TableDescriptor* table = find(target).table;
      if (!is_plain_table(table)) {
        warn_skipping(target.relation->name);
        continue;
      }
      check_columns(target.columns, *table);
      f(*table);
    }
  }

 private:
  NamedRelation find(const ast::VacuumTarget& target) const {
    return require_relation(*state_.session.catalog, state_.session.database_name,
                            *target.relation);
  }

  void warn_skipping(std::string_view name) const {
    state_.session.notices->notice(SqlError(
        Severity::warning, sqlstate::warning,
        concat("skipping \"", name, "\" --- cannot ", statement_.is_analyze ? "analyze" : "vacuum",
               " non-tables or special system tables")));
  }

  static void check_columns(ast::NameList columns, const TableDescriptor& table) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (table.find_column(columns[i]) == nullptr) {
        throw SqlError(
            sqlstate::undefined_column,
            concat("column \"", columns[i], "\" of relation \"", table.name, "\" does not exist"));
      }
      auto before = columns.first(i);
      if (std::ranges::find(before, columns[i]) == before.end()) continue;
      throw SqlError(sqlstate::duplicate_column,
                     concat("column \"", columns[i], "\" of relation \"", table.name,
                            "\" appears more than once"));
    }
  }

  const ast::VacuumStmt& statement_;
  const ExecutionState& state_;
};

void look_at(const TableDescriptor& table, bool analyze, const ExecutionContext& session) {
  if (analyze) table.statistics->refresh(table, session.statistics_target);
  table.statistics->set_counted();
}

class Vacuum final : public UtilityCommand {
 public:
  explicit Vacuum(std::shared_ptr<const PlannedStatement> planned) : planned_(std::move(planned)) {}

  StatementKind kind() const override { return StatementKind::utility; }
  std::string_view tag() const override { return syntax().is_analyze ? "ANALYZE" : "VACUUM"; }
  bool read_only() const override { return true; }

  void run(ExecutionState& state, ResultSink&) const override {
    VacuumOptions options(syntax(), planned_->text);
    options.check(state.session.place);
    VacuumTargets(syntax(), state).for_each([&](const TableDescriptor& table) {
      look_at(table, options.analyze(), state.session);
    });
  }

 private:
  const ast::VacuumStmt& syntax() const { return *ast::as<ast::VacuumStmt>(planned_->syntax); }
  std::shared_ptr<const PlannedStatement> planned_;
};

// Stores the rows anew: what rows, nodes and entries that shrank have left is given back. All
// tables in one transaction.
class VacuumFull final : public DdlCommand {
 public:
  using DdlCommand::DdlCommand;
  std::string_view tag() const override { return "VACUUM"; }

 private:
  void execute(DdlRun& run) const override {
    const auto& syntax = this->syntax<ast::VacuumStmt>();
    VacuumOptions options(syntax, planned_->text);
    options.check(run.state().session.place);
    std::vector<Oid> tables;
    VacuumTargets(syntax, run.state()).for_each([&](const TableDescriptor& table) {
      look_at(table, options.analyze(), run.state().session);
      const bool is_new = std::ranges::find(tables, table.oid) == tables.end();
      if (!table.is_system() && is_new) tables.push_back(table.oid);
    });
    for (Oid table : tables) run.finish(run.definition().rewrite_table(table));
  }
};

// What else may be wrong with the options is said when it runs.
bool asks_for_full(const ast::VacuumStmt& statement) {
  try {
    return !statement.is_analyze &&
           std::ranges::any_of(statement.options, [](const ast::DefElem& option) {
             return option.name == "full" && ast::require_boolean_option(option);
           });
  } catch (const SqlError&) {
    return false;
  }
}

}  // namespace

std::unique_ptr<const UtilityCommand> make_vacuum(
    const std::shared_ptr<const PlannedStatement>& planned) {
  if (asks_for_full(*ast::as<ast::VacuumStmt>(planned->syntax)))
    return std::make_unique<VacuumFull>(planned);
  return std::make_unique<Vacuum>(planned);
}

}  // namespace pgsilo
