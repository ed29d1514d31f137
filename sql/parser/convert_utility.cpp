#include <climits>
#include <cstdint>

#include "sql/parser/tree_converter.h"
#include "sql/text_position.h"

namespace pgsilo {

using namespace ast;

const Node* TreeConverter::copy(const ::CopyStmt& from) {
  auto* to = make<CopyStmt>();
  to->relation = range_var(from.relation);
  if (from.query != nullptr) to->query = statement(from.query);
  to->columns = names(from.attlist);
  to->is_from = from.is_from != 0;
  to->is_program = from.is_program != 0;
  to->filename = text(from.filename);
  to->options = def_elems(from.options);
  to->where = expression(from.whereClause);
  return to;
}

const Node* TreeConverter::transaction(const ::TransactionStmt& from) {
  auto* to = make<TransactionStmt>();
  to->transaction_kind = static_cast<TransactionKind>(from.kind - TRANS_STMT_BEGIN);
  to->options = def_elems(from.options);
  to->savepoint = text(from.savepoint_name);
  to->global_id = text(from.gid);
  to->chain = from.chain != 0;
  return to;
}

const Node* TreeConverter::set(const ::VariableSetStmt& from) {
  auto* to = make<SetStmt>();
  to->set_kind = static_cast<SetKind>(from.kind - VAR_SET_VALUE);
  to->name = text(from.name);
  to->is_local = from.is_local != 0;
  // SET TRANSACTION's arguments are options, except the snapshot's name.
  if (from.args != nullptr && first_node(from.args)->type == T_DefElem) {
    to->options = def_elems(from.args);
  } else {
    to->arguments = nodes(from.args);
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

const Node* TreeConverter::prepare(const ::PrepareStmt& from) {
  auto* to = make<PrepareStmt>();
  to->name = text(from.name);
  to->types = list<const TypeName*>(
      from.argtypes, [this](const PgNode* item) { return type_name(&node_as<::TypeName>(item)); });
  to->query = statement(from.query);
  return to;
}

const Node* TreeConverter::vacuum(const ::VacuumStmt& from) {
  auto* to = make<VacuumStmt>();
  to->is_analyze = from.is_vacuumcmd == 0;
  to->options = def_elems(from.options);
  to->targets = list<VacuumTarget>(from.rels, [this](const PgNode* item) {
    const ::VacuumRelation& relation = node_as<::VacuumRelation>(item);
    return VacuumTarget{range_var(relation.relation), names(relation.va_cols)};
  });
  return to;
}

const Node* TreeConverter::declare_cursor(const ::DeclareCursorStmt& from) {
  auto* to = make<DeclareCursorStmt>();
  to->name = text(from.portalname);
  to->query = statement(from.query);
  to->binary = (from.options & CURSOR_OPT_BINARY) != 0;
  to->scroll = (from.options & CURSOR_OPT_SCROLL) != 0;
  to->no_scroll = (from.options & CURSOR_OPT_NO_SCROLL) != 0;
  to->asensitive = (from.options & CURSOR_OPT_ASENSITIVE) != 0;
  to->insensitive = (from.options & CURSOR_OPT_INSENSITIVE) != 0;
  to->with_hold = (from.options & CURSOR_OPT_HOLD) != 0;
  return to;
}

const Node* TreeConverter::fetch(const ::FetchStmt& from) {
  auto* to = make<FetchStmt>();
  to->direction = static_cast<FetchDirection>(from.direction - FETCH_FORWARD);
  to->count = from.howMany == LONG_MAX ? INT64_MAX : from.howMany;
  to->portal = text(from.portalname);
  to->is_move = from.ismove != 0;
  return to;
}

const Node* TreeConverter::utility(const PgNode* node) {
  switch (node->type) {
    case T_CopyStmt:
      return copy(node_as<::CopyStmt>(node));
    case T_TransactionStmt:
      return transaction(node_as<::TransactionStmt>(node));
    case T_VariableSetStmt:
      return set(node_as<::VariableSetStmt>(node));
    case T_PrepareStmt:
      return prepare(node_as<::PrepareStmt>(node));
    case T_VacuumStmt:
      return vacuum(node_as<::VacuumStmt>(node));
    case T_DeclareCursorStmt:
      return declare_cursor(node_as<::DeclareCursorStmt>(node));
    case T_FetchStmt:
      return fetch(node_as<::FetchStmt>(node));
    case T_CheckPointStmt:
      return make<CheckpointStmt>();
    default:
      return session_statement(node);
  }
}

const Node* TreeConverter::session_statement(const PgNode* node) {
  switch (node->type) {
    case T_VariableShowStmt: {
      auto* to = make<ShowStmt>();
      to->name = text(node_as<::VariableShowStmt>(node).name);
      return to;
    }
    case T_ExecuteStmt: {
      auto* to = make<ExecuteStmt>();
      to->name = text(node_as<::ExecuteStmt>(node).name);
      to->parameters = nodes(node_as<::ExecuteStmt>(node).params);
      return to;
    }
    case T_DeallocateStmt: {
      auto* to = make<DeallocateStmt>();
      to->name = text(node_as<::DeallocateStmt>(node).name);
      return to;
    }
    case T_DiscardStmt: {
      auto* to = make<DiscardStmt>();
      to->discard_kind =
          static_cast<DiscardKind>(node_as<::DiscardStmt>(node).target - DISCARD_ALL);
      return to;
    }
    case T_ExplainStmt: {
      auto* to = make<ExplainStmt>();
      to->query = statement(node_as<::ExplainStmt>(node).query);
      to->options = def_elems(node_as<::ExplainStmt>(node).options);
      return to;
    }
    case T_LockStmt: {
      auto* to = make<LockStmt>();
      to->relations = range_vars(node_as<::LockStmt>(node).relations);
      to->mode = node_as<::LockStmt>(node).mode;
      to->nowait = node_as<::LockStmt>(node).nowait != 0;
      return to;
    }
    case T_ClosePortalStmt: {
      auto* to = make<ClosePortalStmt>();
      to->name = text(node_as<::ClosePortalStmt>(node).portalname);
      return to;
    }
    case T_ConstraintsSetStmt: {
      auto* to = make<SetConstraintsStmt>();
      to->constraints = range_vars(node_as<::ConstraintsSetStmt>(node).constraints);
      to->deferred = node_as<::ConstraintsSetStmt>(node).deferred != 0;
      return to;
    }
    default:
      return nullptr;
  }
}

}  // namespace pgsilo
