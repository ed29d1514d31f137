// The door: a syntax tree in, a planned statement out.
#include <algorithm>

#include "catalog/catalog_view.h"
#include "catalog/descriptors.h"
#include "planner/access/planning.h"
#include "planner/binder/binding.h"
#include "planner/binder/modification_binder.h"
#include "planner/binder/parameters.h"
#include "planner/binder/query_binder.h"
#include "planner/plan/explain_options.h"
#include "planner/plan/make_plan.h"
#include "planner/plan/query_planner.h"
#include "planner/plan/transaction_plan.h"
#include "planner/unsupported_features.h"
#include "sql/ast/utility.h"
#include "sql/internal_error.h"
#include "sql/types/type.h"
#include "sql/types/type_context.h"

namespace pgsilo {

namespace {

std::shared_ptr<PlannedStatement> begin_statement(const PlanRequest& request) {
  auto planned = std::make_shared<PlannedStatement>();
  planned->syntax_owner = request.syntax_owner;
  planned->syntax = request.statement;
  planned->text = request.text;
  planned->catalog_version = request.catalog.version();
  planned->name_path = request.catalog.name_path();
  planned->descriptor_owners.push_back(request.catalog.shared_snapshot());
  return planned;
}

BoundStatement bind_statement(StatementBinding& binding, const ast::Node* node) {
  BoundStatement bound;
  switch (node->kind) {
    case ast::NodeKind::select_stmt:
      bound.query = bind_query(binding, *ast::as<ast::SelectStmt>(node), nullptr);
      break;
    case ast::NodeKind::insert_stmt:
      bound.modification = bind_insert(binding, *ast::as<ast::InsertStmt>(node));
      break;
    case ast::NodeKind::update_stmt:
      bound.modification = bind_update(binding, *ast::as<ast::UpdateStmt>(node));
      break;
    case ast::NodeKind::delete_stmt:
      bound.modification = bind_delete(binding, *ast::as<ast::DeleteStmt>(node));
      break;
    default:
      PGSILO_REQUIRE(false);
  }
  return bound;
}

PlannedKind kind_of(const BoundStatement& bound) {
  if (bound.query != nullptr) return PlannedKind::query;
  switch (bound.modification->kind) {
    case PlanKind::insert:
      return PlannedKind::insert;
    case PlanKind::update:
      return PlannedKind::update;
    default:
      return PlannedKind::delete_;
  }
}

void set_result_columns(PlannedStatement& planned, const BoundStatement& bound) {
  std::span<const BoundTarget> targets =
      bound.query != nullptr ? bound.query->targets.first(bound.query->visible_targets)
                             : bound.modification->returning;
  auto columns = planned.arena.make_span<PlannedColumn>(targets.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    const BoundTarget& target = targets[i];
    Oid type = target.expression->type;
    if (type == type_oid::record || type == type_oid::record_array) {
      throw_unsupported(UnsupportedFeature::composite_type,
                        character_position(planned.text, target.expression->location));
    }
    columns[i] = {target.name, target.expression->type, target.expression->typmod, target.table,
                  target.column_number};
  }
  planned.result_columns = columns;
  planned.returns_rows = bound.query != nullptr || !targets.empty();
}

bool is_plannable(const ast::Node* node) {
  return node->kind == ast::NodeKind::select_stmt || node->kind == ast::NodeKind::insert_stmt ||
         node->kind == ast::NodeKind::update_stmt || node->kind == ast::NodeKind::delete_stmt;
}

std::span<const double> told_rows(PlannedStatement& planned, const TableStatistics& statistics) {
  auto rows = planned.arena.make_span<double>(planned.tables.size());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = statistics.row_count(*planned.tables[i]);
  return rows;
}

std::span<const uint64_t> refreshes_of(PlannedStatement& planned) {
  auto refreshes = planned.arena.make_span<uint64_t>(planned.tables.size());
  for (size_t i = 0; i < refreshes.size(); ++i)
    refreshes[i] = planned.tables[i]->statistics->refreshes();
  return refreshes;
}

std::shared_ptr<const PlannedStatement> plan_rows(const PlanRequest& request) {
  std::shared_ptr<PlannedStatement> planned = begin_statement(request);
  TypeContext types = request.types;
  types.arena = &planned->arena;
  StatementBinding binding{
      planned->arena, request.catalog, planned->text, request.database_name, types, {}, {}};
  binding.parameters.allowed = request.parameters_allowed;
  binding.parameters.guesses = request.guesses;
  for (Oid type : request.declared_parameter_types) {
    binding.parameters.types.push_back(type == invalid_oid ? type_oid::unknown : type);
    binding.use_type(type);
  }
  BoundStatement bound = bind_statement(binding, request.statement);
  check_parameters(binding);
  planned->tables = planned->arena.copy_span(binding.tables);
  planned->table_uses = planned->arena.copy_span(binding.table_uses);
  planned->user_types = binding.user_types;
  planned->table_refreshes = refreshes_of(*planned);

  StatementPlanning planning{planned->arena, &request.evaluator, request.statistics,
                             request.settings};
  planning.execution_parameters = binding.execution_parameters;
  planned->root = bound.query != nullptr ? plan_query(planning, nullptr, *bound.query)
                                         : plan_modification(planning, *bound.modification);
  finish_plan(planning);

  planned->kind = kind_of(bound);
  set_result_columns(*planned, bound);
  planned->ctes = planned->arena.copy_span(planning.cte_plans);
  planned->work_tables = planning.work_table_rows.size();
  planned->parameter_types = planned->arena.copy_span(binding.parameters.types);
  planned->execution_parameter_count = planning.execution_parameters;
  planned->estimated_parameters = planned->arena.copy_span(planning.estimated_parameters);
  planned->parameters_decide = planning.parameters_decide;
  planned->table_rows = told_rows(*planned, request.statistics);
  planned->lock_clause = binding.lock_clause;
  planned->calls_volatile = binding.calls_volatile;
  planned->read_only = planned->kind == PlannedKind::query && binding.lock_clause.empty();
  planned->one_shot = true;
  planned->warnings = std::move(binding.warnings);
  planned->cacheable = binding.cacheable && planned->warnings.empty();
  return planned;
}

std::shared_ptr<const PlannedStatement> plan_inner(const PlanRequest& request,
                                                   const ast::Node* node) {
  if (node == nullptr || !is_plannable(node)) return nullptr;
  PlanRequest inner = request;
  inner.statement = node;
  return plan_statement(inner);
}

// The query inside a utility statement; null for none.
const ast::Node* query_inside(const ast::Node* node) {
  if (auto* copy = ast::try_as<ast::CopyStmt>(node)) return copy->query;
  if (auto* create = ast::try_as<ast::CreateTableAsStmt>(node)) return create->query;
  return nullptr;
}

bool may_run_alone(const ast::Node* node) {
  switch (node->kind) {
    case ast::NodeKind::copy_stmt:
    case ast::NodeKind::transaction_stmt:
    case ast::NodeKind::declare_cursor_stmt:
    case ast::NodeKind::fetch_stmt:
    case ast::NodeKind::close_portal_stmt:
      return false;
    default:
      return true;
  }
}

void take_over(PlannedStatement& planned, const PlannedStatement& inner) {
  planned.parameter_types = inner.parameter_types;
  planned.tables = inner.tables;
  planned.table_uses = inner.table_uses;
  planned.user_types = inner.user_types;
  planned.table_rows = inner.table_rows;
  planned.table_refreshes = inner.table_refreshes;
  planned.lock_clause = inner.lock_clause;
}

std::shared_ptr<const PlannedStatement> plan_explain(const PlanRequest& request,
                                                     const ast::ExplainStmt& statement) {
  std::shared_ptr<PlannedStatement> planned = begin_statement(request);
  planned->kind = PlannedKind::explain;
  planned->explain = read_explain_options(statement, planned->text);
  const ast::Node* query = statement.query;
  if (auto* create = ast::try_as<ast::CreateTableAsStmt>(query)) query = create->query;
  planned->inner = plan_inner(request, query);
  PlannedColumn column;
  column.name = "QUERY PLAN";
  // PostgreSQL types the JSON form as json, which we do not have yet.
  column.type = type_oid::text;
  planned->result_columns = planned->arena.copy_span(std::initializer_list<PlannedColumn>{column});
  planned->returns_rows = true;
  planned->one_shot = true;
  planned->cacheable = false;
  planned->read_only =
      !planned->explain.analyze || planned->inner == nullptr || planned->inner->read_only;
  if (planned->inner != nullptr) take_over(*planned, *planned->inner);
  return planned;
}

std::shared_ptr<const PlannedStatement> plan_utility(const PlanRequest& request) {
  std::shared_ptr<PlannedStatement> planned = begin_statement(request);
  planned->kind = PlannedKind::utility;
  bool hands_on = request.statement->kind == ast::NodeKind::create_table_as_stmt;
  PlanRequest inner = request;
  if (!hands_on) {
    require_known_types(request.declared_parameter_types);
    inner.declared_parameter_types = {};
    inner.parameters_allowed = false;
  }
  planned->inner = plan_inner(inner, query_inside(request.statement));
  if (planned->inner != nullptr) take_over(*planned, *planned->inner);
  if (!hands_on)
    planned->parameter_types = planned->arena.copy_span(request.declared_parameter_types);
  planned->one_shot = may_run_alone(request.statement);
  planned->cacheable = false;
  return planned;
}

}  // namespace

std::shared_ptr<const PlannedStatement> plan_statement(const PlanRequest& request) {
  if (is_plannable(request.statement)) return plan_rows(request);
  if (auto* explain = ast::try_as<ast::ExplainStmt>(request.statement))
    return plan_explain(request, *explain);
  return plan_utility(request);
}

}  // namespace pgsilo
