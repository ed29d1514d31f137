#include <climits>
#include <cstdint>

#include "sql/parser/tree_converter.h"
#include "sql/text_position.h"

namespace pgsilo {

using namespace ast;

namespace {
// DECLARE's option bits (PostgreSQL's parsenodes.h).
constexpr int cursor_binary = 0x0001;
constexpr int cursor_scroll = 0x0002;
constexpr int cursor_no_scroll = 0x0004;
constexpr int cursor_hold = 0x0020;
}  // namespace

const Node* TreeConverter::copy(const PgQuery__CopyStmt& from) {
  auto* to = make<CopyStmt>();
  to->relation = range_var(from.relation);
  if (from.query != nullptr) to->query = statement(from.query);
  to->columns = names(from.attlist, from.n_attlist);
  to->is_from = from.is_from != 0;
  to->is_program = from.is_program != 0;
  to->filename = text(from.filename);
  to->options = def_elems(from.options, from.n_options);
  to->where = expression(from.where_clause);
  return to;
}

const Node* TreeConverter::transaction(const PgQuery__TransactionStmt& from) {
  auto* to = make<TransactionStmt>();
  to->transaction_kind =
      static_cast<TransactionKind>(from.kind - PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_BEGIN);
  to->options = def_elems(from.options, from.n_options);
  to->savepoint = text(from.savepoint_name);
  to->global_id = text(from.gid);
  to->chain = from.chain != 0;
  return to;
}

const Node* TreeConverter::set(const PgQuery__VariableSetStmt& from) {
  auto* to = make<SetStmt>();
  to->set_kind = static_cast<SetKind>(from.kind - PG_QUERY__VARIABLE_SET_KIND__VAR_SET_VALUE);
  to->name = text(from.name);
  to->is_local = from.is_local != 0;
  // SET TRANSACTION's arguments are options, except the snapshot's name.
  if (from.n_args > 0 && from.args[0]->node_case == PG_QUERY__NODE__NODE_DEF_ELEM) {
    to->options = def_elems(from.args, from.n_args);
  } else {
    to->arguments = nodes(from.args, from.n_args);
  }
  // The grammar that libpg_query has takes parameters here, PostgreSQL's does not.
  for (const Node* argument : to->arguments) {
    const auto* parameter = try_as<ParamRef>(argument);
    if (parameter == nullptr) continue;
    throw SqlError(sqlstate::syntax_error,
                   concat("syntax error at or near \"$", parameter->number, "\""))
        .at(character_position(sql_, parameter->location));
  }
  return to;
}

const Node* TreeConverter::prepare(const PgQuery__PrepareStmt& from) {
  auto* to = make<PrepareStmt>();
  to->name = text(from.name);
  to->types = list<const TypeName*>(from.argtypes, from.n_argtypes, [this](const PgNode* item) {
    return type_name(item->type_name);
  });
  to->query = statement(from.query);
  return to;
}

const Node* TreeConverter::vacuum(const PgQuery__VacuumStmt& from) {
  auto* to = make<VacuumStmt>();
  to->is_analyze = from.is_vacuumcmd == 0;
  to->options = def_elems(from.options, from.n_options);
  to->targets = list<VacuumTarget>(from.rels, from.n_rels, [this](const PgNode* item) {
    const PgQuery__VacuumRelation& relation = *item->vacuum_relation;
    return VacuumTarget{range_var(relation.relation), names(relation.va_cols, relation.n_va_cols)};
  });
  return to;
}

const Node* TreeConverter::declare_cursor(const PgQuery__DeclareCursorStmt& from) {
  auto* to = make<DeclareCursorStmt>();
  to->name = text(from.portalname);
  to->query = statement(from.query);
  to->binary = (from.options & cursor_binary) != 0;
  to->scroll = (from.options & cursor_scroll) != 0;
  to->no_scroll = (from.options & cursor_no_scroll) != 0;
  to->with_hold = (from.options & cursor_hold) != 0;
  return to;
}

const Node* TreeConverter::fetch(const PgQuery__FetchStmt& from) {
  auto* to = make<FetchStmt>();
  to->direction =
      static_cast<FetchDirection>(from.direction - PG_QUERY__FETCH_DIRECTION__FETCH_FORWARD);
  to->count = from.how_many == LONG_MAX ? INT64_MAX : from.how_many;
  to->portal = text(from.portalname);
  to->is_move = from.ismove != 0;
  return to;
}

const Node* TreeConverter::utility(const PgNode* node) {
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_COPY_STMT:
      return copy(*node->copy_stmt);
    case PG_QUERY__NODE__NODE_TRANSACTION_STMT:
      return transaction(*node->transaction_stmt);
    case PG_QUERY__NODE__NODE_VARIABLE_SET_STMT:
      return set(*node->variable_set_stmt);
    case PG_QUERY__NODE__NODE_PREPARE_STMT:
      return prepare(*node->prepare_stmt);
    case PG_QUERY__NODE__NODE_VACUUM_STMT:
      return vacuum(*node->vacuum_stmt);
    case PG_QUERY__NODE__NODE_DECLARE_CURSOR_STMT:
      return declare_cursor(*node->declare_cursor_stmt);
    case PG_QUERY__NODE__NODE_FETCH_STMT:
      return fetch(*node->fetch_stmt);
    case PG_QUERY__NODE__NODE_CHECK_POINT_STMT:
      return make<CheckpointStmt>();
    default:
      return session_statement(node);
  }
}

const Node* TreeConverter::session_statement(const PgNode* node) {
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_VARIABLE_SHOW_STMT: {
      auto* to = make<ShowStmt>();
      to->name = text(node->variable_show_stmt->name);
      return to;
    }
    case PG_QUERY__NODE__NODE_EXECUTE_STMT: {
      auto* to = make<ExecuteStmt>();
      to->name = text(node->execute_stmt->name);
      to->parameters = nodes(node->execute_stmt->params, node->execute_stmt->n_params);
      return to;
    }
    case PG_QUERY__NODE__NODE_DEALLOCATE_STMT: {
      auto* to = make<DeallocateStmt>();
      to->name = text(node->deallocate_stmt->name);
      return to;
    }
    case PG_QUERY__NODE__NODE_DISCARD_STMT: {
      auto* to = make<DiscardStmt>();
      to->discard_kind = static_cast<DiscardKind>(node->discard_stmt->target -
                                                  PG_QUERY__DISCARD_MODE__DISCARD_ALL);
      return to;
    }
    case PG_QUERY__NODE__NODE_EXPLAIN_STMT: {
      auto* to = make<ExplainStmt>();
      to->query = statement(node->explain_stmt->query);
      to->options = def_elems(node->explain_stmt->options, node->explain_stmt->n_options);
      return to;
    }
    case PG_QUERY__NODE__NODE_LOCK_STMT: {
      auto* to = make<LockStmt>();
      to->relations = range_vars(node->lock_stmt->relations, node->lock_stmt->n_relations);
      to->mode = node->lock_stmt->mode;
      to->nowait = node->lock_stmt->nowait != 0;
      return to;
    }
    case PG_QUERY__NODE__NODE_CLOSE_PORTAL_STMT: {
      auto* to = make<ClosePortalStmt>();
      to->name = text(node->close_portal_stmt->portalname);
      return to;
    }
    case PG_QUERY__NODE__NODE_CONSTRAINTS_SET_STMT: {
      auto* to = make<SetConstraintsStmt>();
      to->constraints = range_vars(node->constraints_set_stmt->constraints,
                                   node->constraints_set_stmt->n_constraints);
      to->deferred = node->constraints_set_stmt->deferred != 0;
      return to;
    }
    default:
      return nullptr;
  }
}

}  // namespace pgsilo
