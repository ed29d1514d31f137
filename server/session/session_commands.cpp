#include "server/session/session_commands.h"

#include <algorithm>
#include <array>

#include "base/limits.h"
#include "base/stack.h"
#include "catalog/named_relation.h"
#include "catalog/named_type.h"
#include "executor/held_rows.h"
#include "planner/binder/parameters.h"
#include "server/session/setting_statement.h"
#include "sql/ast/ast.h"
#include "sql/ast/make_node.h"
#include "wal/checkpoint/checkpointer.h"

namespace pgsilo {
namespace {

ResultColumn text_column(std::string_view name) {
  ResultColumn column;
  column.name = name;
  column.type_oid = type_oid::text;
  column.type_length = -1;
  return column;
}

SqlError no_statement(std::string_view name) {
  return SqlError(sqlstate::invalid_sql_statement_name,
                  concat("prepared statement \"", name, "\" does not exist"));
}

SqlState state_of(CheckpointOutcome outcome) {
  if (outcome == CheckpointOutcome::no_space) return sqlstate::disk_full;
  if (outcome == CheckpointOutcome::no_memory) return sqlstate::out_of_memory;
  return sqlstate::internal_error;
}

// All of the name in the first schema that has one.
void add_deferrable_constraints(const CatalogView& catalog, std::string_view database,
                                const ast::RangeVar& name, bool deferred,
                                std::vector<Oid>* constraints) {
  std::vector<Oid> schemas = catalog.name_path().schemas;
  std::string_view schema_name = schema_of(name, database);
  if (!schema_name.empty()) {
    const SchemaDescriptor* schema = catalog.find_schema(schema_name);
    if (schema == nullptr) throw undefined_schema(schema_name);
    schemas = {schema->oid};
  }
  for (Oid schema : schemas) {
    bool found = false;
    for (const auto& [oid, table] : catalog.snapshot().tables()) {
      const ConstraintDescriptor* constraint =
          table->schema == schema ? table->find_constraint(name.name) : nullptr;
      if (constraint == nullptr) continue;
      found = true;
      if (deferred && !constraint->deferrable) {
        throw SqlError(sqlstate::wrong_object_type,
                       concat("constraint \"", name.name, "\" is not deferrable"));
      }
      constraints->push_back(constraint->oid);
    }
    if (found) return;
  }
  throw SqlError(sqlstate::undefined_object,
                 concat("constraint \"", name.name, "\" does not exist"));
}

// Keeps the one row that EXECUTE's parameters evaluate to.
class ParameterSink final : public ResultSink {
 public:
  ParameterSink(Portal& portal, std::span<const Oid> types) : portal_(portal), types_(types) {}
  void row(std::span<const Datum> values) override {
    for (size_t i = 0; i < values.size(); ++i) {
      portal_.parameters.push_back(copy_datum(values[i], type_info(types_[i]), *portal_.memory));
    }
  }

 private:
  Portal& portal_;
  std::span<const Oid> types_;
};

// By way of the protocol one EXECUTE may run another one, or itself. Half of the stack is for what
// is run in the end.
void require_stack_for_execute() {
  if (stack_bytes_left() < limits::fiber_stack_bytes / 2)
    throw SqlError(sqlstate::statement_too_complex, "stack depth limit exceeded");
}

}  // namespace

bool SessionCommands::is_command(const ast::Node& node) {
  using Kind = ast::NodeKind;
  switch (node.kind) {
    case Kind::transaction_stmt:
    case Kind::set_stmt:
    case Kind::show_stmt:
    case Kind::prepare_stmt:
    case Kind::execute_stmt:
    case Kind::deallocate_stmt:
    case Kind::discard_stmt:
    case Kind::set_constraints_stmt:
    case Kind::checkpoint_stmt:
    case Kind::declare_cursor_stmt:
    case Kind::fetch_stmt:
    case Kind::close_portal_stmt:
    case Kind::unsupported_stmt:
      return true;
    default:
      return explained_execute(node) != nullptr;
  }
}

void SessionCommands::describe(PreparedStatement& statement, bool parameters_allowed) {
  if (const auto* declare = ast::try_as<ast::DeclareCursorStmt>(statement.node))
    return describe_declare(statement, *declare, parameters_allowed);
  require_known_types(statement.declared_types);
  statement.parameter_types = statement.declared_types;
  if (const auto* show = ast::try_as<ast::ShowStmt>(statement.node)) {
    if (show->name == "all") {
      statement.result_columns = {text_column("name"), text_column("setting"),
                                  text_column("description")};
    } else {
      statement.result_columns = {text_column(state_.settings.canonical_name(show->name))};
    }
    statement.returns_rows = true;
  } else if (const auto* execute = ast::try_as<ast::ExecuteStmt>(statement.node)) {
    std::shared_ptr<PreparedStatement> target = find_prepared(execute->name);
    statement.result_columns = target->result_columns;
    statement.returns_rows = target->returns_rows;
  } else if (const auto* fetch = ast::try_as<ast::FetchStmt>(statement.node)) {
    describe_fetch(statement, *fetch);
  } else if (explained_execute(*statement.node) != nullptr) {
    statement.result_columns = {text_column("QUERY PLAN")};
    statement.returns_rows = true;
  }
}

std::shared_ptr<PreparedStatement> SessionCommands::find_prepared(std::string_view name) const {
  std::shared_ptr<PreparedStatement> found = state_.statements.find(name);
  if (found == nullptr) throw no_statement(name);
  return found;
}

StatementRunner::Outcome SessionCommands::run(Portal& portal, uint64_t row_limit) {
  const ast::Node* node = portal.statement->node;
  using Kind = ast::NodeKind;
  switch (node->kind) {
    case Kind::transaction_stmt:
      return {false, state_.transactions.run(*ast::as<ast::TransactionStmt>(node))};
    case Kind::set_stmt:
      return {false, run_set_statement(state_, *ast::as<ast::SetStmt>(node))};
    case Kind::show_stmt:
      return show(portal, *ast::as<ast::ShowStmt>(node), row_limit);
    case Kind::prepare_stmt:
      return {false, prepare(portal, *ast::as<ast::PrepareStmt>(node))};
    case Kind::execute_stmt:
      return execute(portal, *ast::as<ast::ExecuteStmt>(node), row_limit);
    case Kind::explain_stmt:
      return explain(portal, *ast::as<ast::ExplainStmt>(node), row_limit);
    case Kind::deallocate_stmt:
      return {false, deallocate(*ast::as<ast::DeallocateStmt>(node))};
    case Kind::discard_stmt:
      return {false, discard(*ast::as<ast::DiscardStmt>(node))};
    case Kind::set_constraints_stmt:
      return {false, set_constraints(*ast::as<ast::SetConstraintsStmt>(node))};
    case Kind::checkpoint_stmt:
      return {false, checkpoint()};
    case Kind::declare_cursor_stmt:
      return {false, declare(portal, *ast::as<ast::DeclareCursorStmt>(node))};
    case Kind::fetch_stmt:
      return fetch(portal, *ast::as<ast::FetchStmt>(node));
    case Kind::close_portal_stmt:
      return {false, close_portal(*ast::as<ast::ClosePortalStmt>(node))};
    default:
      throw_unsupported(ast::as<ast::UnsupportedStmt>(node)->feature);
  }
}

// Waits for a checkpoint that begins now; others may be asked for and run before.
std::string_view SessionCommands::checkpoint() {
  Checkpointer& checkpointer = state_.services.checkpointer;
  CheckpointRequest request(checkpointer, state_.interrupts);
  WaitScope waits(state_.context.wait_report, WaitEvent::checkpoint_done);
  std::string why;
  CheckpointOutcome outcome;
  while ((outcome = request.outcome(&why)) == CheckpointOutcome::pending) {
    state_.interrupts.park();
    state_.context.check_budget();
  }
  if (outcome == CheckpointOutcome::done) return "CHECKPOINT";
  throw SqlError(state_of(outcome), "checkpoint request failed").detail(why);
}

std::string_view SessionCommands::set_constraints(const ast::SetConstraintsStmt& statement) {
  warn_outside_block(state_.context.place, "SET CONSTRAINTS", *state_.context.notices);
  state_.transactions.open();
  state_.refresh_catalog();
  std::vector<Oid> constraints;
  for (const ast::RangeVar* name : statement.constraints)
    add_deferrable_constraints(state_.transactions.catalog(), state_.context.database_name, *name,
                               statement.deferred, &constraints);
  state_.references.set_constraints(constraints, statement.deferred);
  return "SET CONSTRAINTS";
}

// What it shows is what was so when it began.
StatementRunner::Outcome SessionCommands::show(Portal& portal, const ast::ShowStmt& statement,
                                               uint64_t row_limit) {
  if (portal.held == nullptr) portal.held = shown(portal, statement);
  return {hand_out_held(portal, row_limit), "SHOW"};
}

bool SessionCommands::hand_out_held(Portal& portal, uint64_t row_limit) {
  state_.rows.prepare(portal.statement->result_columns, portal.result_formats,
                      state_.context.types);
  uint64_t limit = row_limit == 0 ? UINT64_MAX : row_limit;
  return portal.held->hand_out(state_.rows, limit) == limit;
}

std::unique_ptr<HeldRows> SessionCommands::shown(const Portal& portal,
                                                 const ast::ShowStmt& statement) const {
  auto rows = std::make_unique<HeldRows>(portal.statement->result_columns, state_.context);
  if (statement.name != "all") {
    std::string value;
    if (!state_.settings.get(statement.name, &value))
      state_.settings.canonical_name(statement.name);
    Datum shown = Datum::of_bytes(value);
    rows->row({&shown, 1});
    return rows;
  }
  for (const Settings::Shown& each : state_.settings.show_all()) {
    std::array<Datum, 3> values = {Datum::of_bytes(each.name), Datum::of_bytes(each.value),
                                   Datum::of_bytes(each.description)};
    rows->row(values);
  }
  return rows;
}

namespace {

// What a name in PREPARE's list stands for. Throws 42704.
Oid resolve_type_name(const CatalogView& catalog, const ast::TypeName& name) {
  std::string_view word = name.names.back();
  const TypeInfo* type = find_named_type(catalog, name.names);
  if (type == nullptr) {
    throw SqlError(sqlstate::undefined_object, concat("type \"", word, "\" does not exist"))
        .at(name.location + 1);
  }
  if (name.array_bounds.empty()) return type->oid;
  if (type->array == invalid_oid) throw_unsupported(concat("array of ", word));
  return type->array;
}

}  // namespace

std::string_view SessionCommands::prepare(const Portal& portal, const ast::PrepareStmt& statement) {
  if (statement.name.empty()) {
    throw SqlError(sqlstate::invalid_pstatement_definition,
                   "invalid statement name: must not be empty");
  }
  state_.refresh_catalog();
  std::vector<Oid> types;
  for (const ast::TypeName* type : statement.types)
    types.push_back(resolve_type_name(state_.transactions.catalog(), *type));
  std::shared_ptr<PreparedStatement> prepared =
      runner_->prepare_node(portal.statement->text, statement.query, types, true);
  prepared->from_sql = true;
  prepared->prepared_us = state_.context.statement_timestamp_us;
  state_.statements.add(statement.name, std::move(prepared));
  return "PREPARE";
}

// The arguments are expressions: they run as a SELECT of what is assigned to the parameters.
std::shared_ptr<Portal> SessionCommands::bind_execute(const Portal& portal,
                                                      const ast::ExecuteStmt& statement) {
  auto inner = std::make_shared<Portal>();
  inner->statement = find_prepared(statement.name);
  inner->result_formats = portal.result_formats;
  const std::vector<Oid>& types = inner->statement->parameter_types;
  if (statement.parameters.size() != types.size()) {
    throw SqlError(
        sqlstate::syntax_error,
        concat("wrong number of parameters for prepared statement \"", statement.name, "\""))
        .detail(concat("Expected ", types.size(), " parameters but got ",
                       statement.parameters.size(), "."));
  }
  if (types.empty()) return inner;
  // The tree refers to the statement's own nodes. It has its plan only here, and the text may be
  // long: that is shared.
  Arena arena{ArenaLimit::reserve};
  auto* select = ast::make_node<ast::SelectStmt>(arena);
  auto targets = arena.make_span<ast::Target>(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    auto* cast = ast::make_node<ast::TypeCast>(arena, statement.parameters[i]->location);
    cast->argument = statement.parameters[i];
    auto* type = arena.make<ast::TypeName>();
    type->oid = types[i];
    cast->type = type;
    cast->execute_parameter = static_cast<int32_t>(i + 1);
    targets[i].expression = cast;
  }
  select->targets = targets;
  auto text = std::make_shared<CachedText>();
  text->syntax = portal.statement->text->syntax;
  std::shared_ptr<PreparedStatement> values = runner_->prepare_node(text, select, {}, false);
  ParameterSink sink(*inner, types);
  Execution execution(values->plan, state_.context, {});
  while (execution.run(sink) == RunStatus::suspended) {
  }
  return inner;
}

StatementRunner::Outcome SessionCommands::execute(Portal& portal, const ast::ExecuteStmt& statement,
                                                  uint64_t row_limit) {
  require_stack_for_execute();
  if (portal.inner == nullptr) {
    std::shared_ptr<Portal> inner = bind_execute(portal, statement);
    runner_->revalidate(*inner->statement);
    runner_->choose_plan(*inner, true);
    state_.portals.set_inner(portal, std::move(inner));
  }
  std::shared_ptr<Portal> inner = portal.inner;
  return runner_->run(inner, row_limit);
}

std::string_view SessionCommands::deallocate(const ast::DeallocateStmt& statement) {
  if (statement.name.empty()) {
    state_.statements.remove_all();
    return "DEALLOCATE ALL";
  }
  if (!state_.statements.remove(statement.name)) throw no_statement(statement.name);
  return "DEALLOCATE";
}

void SessionCommands::discard_temporary() {
  if (!state_.temporary_schema.is_taken()) return;
  state_.transactions.open();
  state_.refresh_catalog();
  const CatalogView& catalog = state_.transactions.catalog();
  if (const SchemaDescriptor* schema = catalog.temporary_schema()) {
    for (const auto& [address, same] : catalog.snapshot().members(schema->oid)) {
      const TableDescriptor* table = catalog.find_table(address.oid);
      if (table != nullptr) state_.portals.refuse_in_use(*table, "DROP TABLE");
    }
  }
  state_.transactions.drop_temporary_objects();
}

std::string_view SessionCommands::discard(const ast::DiscardStmt& statement) {
  switch (statement.discard_kind) {
    case ast::DiscardKind::plans:
      runner_->forget_plans();
      return "DISCARD PLANS";
    case ast::DiscardKind::sequences:
      state_.sequences.forget();
      return "DISCARD SEQUENCES";
    case ast::DiscardKind::temp:
      discard_temporary();
      return "DISCARD TEMP";
    case ast::DiscardKind::all:
      break;
  }
  refuse_in_block(state_.context.place, "DISCARD ALL");
  state_.settings.reset("session_authorization", false);
  state_.settings.reset("role", false);
  state_.settings.reset_all();
  state_.portals.remove_all();
  state_.statements.remove_all();
  runner_->forget_plans();
  state_.sequences.forget();
  state_.transactions.forget_caution();
  state_.transactions.advisory_locks().unlock_all();
  discard_temporary();
  state_.transactions.commit_implicit();  // whatever follows
  return "DISCARD ALL";
}

}  // namespace pgsilo
