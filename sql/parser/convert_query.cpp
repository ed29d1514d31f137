#include <algorithm>

#include "sql/parser/tree_converter.h"

namespace pgsilo {

using namespace ast;

const Alias* TreeConverter::alias(const ::Alias* from) {
  if (from == nullptr) return nullptr;
  auto* to = arena_.make<Alias>();
  to->name = text(from->aliasname);
  to->columns = names(from->colnames);
  return to;
}

const RangeVar* TreeConverter::range_var(const ::RangeVar* from) {
  if (from == nullptr) return nullptr;
  auto* to = make<RangeVar>(from->location);
  to->catalog_name = text(from->catalogname);
  to->schema_name = text(from->schemaname);
  to->name = text(from->relname);
  to->alias = alias(from->alias);
  to->only = !from->inh;
  switch (from->relpersistence) {
    case 'u':
      to->persistence = Persistence::unlogged;
      break;
    case 't':
      to->persistence = Persistence::temporary;
      break;
    default:
      break;
  }
  return to;
}

List<const RangeVar*> TreeConverter::range_vars(const ::List* items) {
  return list<const RangeVar*>(
      items, [this](const PgNode* item) { return range_var(&node_as<::RangeVar>(item)); });
}

const Node* TreeConverter::range_function(const ::RangeFunction& from) {
  auto* to = make<RangeFunction>();
  to->functions = list<RangeFunctionItem>(from.functions, [this](const PgNode* item) {
    // Each is a list of the call and its column definitions.
    std::span<const ListCell> pair = cells(list_in(item));
    RangeFunctionItem function;
    function.call = expression(node_in(pair[0]));
    if (pair.size() > 1) function.column_defs = column_defs(list_in(node_in(pair[1])));
    return function;
  });
  to->alias = alias(from.alias);
  to->column_defs = column_defs(from.coldeflist);
  to->lateral = from.lateral != 0;
  to->with_ordinality = from.ordinality != 0;
  to->is_rows_from = from.is_rowsfrom != 0;
  if (!to->functions.empty()) to->location = to->functions[0].call->location;
  return to;
}

const Node* TreeConverter::join(const ::JoinExpr& from) {
  auto* to = make<JoinExpr>();
  to->join_kind = static_cast<JoinKind>(from.jointype - JOIN_INNER);
  to->natural = from.isNatural != 0;
  to->left = from_item(from.larg);
  to->right = from_item(from.rarg);
  to->using_columns = names(from.usingClause);
  if (from.join_using_alias != nullptr) to->using_alias = text(from.join_using_alias->aliasname);
  to->condition = expression(from.quals);
  to->alias = alias(from.alias);
  return to;
}

const Node* TreeConverter::from_item(const PgNode* node) {
  switch (node->type) {
    case T_RangeVar:
      return range_var(&node_as<::RangeVar>(node));
    case T_JoinExpr:
      return join(node_as<::JoinExpr>(node));
    case T_RangeFunction:
      return range_function(node_as<::RangeFunction>(node));
    case T_RangeSubselect: {
      auto* to = make<RangeSubselect>();
      to->select = select(node_as<::SelectStmt>(node_as<::RangeSubselect>(node).subquery));
      to->alias = alias(node_as<::RangeSubselect>(node).alias);
      to->lateral = node_as<::RangeSubselect>(node).lateral != 0;
      return to;
    }
    case T_RangeTableSample:
      unsupported("TABLESAMPLE", node_as<::RangeTableSample>(node).location);
    case T_RangeTableFunc:
      unsupported("XMLTABLE", node_as<::RangeTableFunc>(node).location);
    default:
      unsupported("this item of FROM", -1);
  }
}

NodeList TreeConverter::from_items(const ::List* items) {
  return list<const Node*>(items, [this](const PgNode* item) { return from_item(item); });
}

List<Target> TreeConverter::targets(const ::List* items) {
  return list<Target>(items, [this](const PgNode* item) {
    const ::ResTarget& from = node_as<::ResTarget>(item);
    return Target{text(from.name), expression(from.val), from.location};
  });
}

List<Assignment> TreeConverter::assignments(const ::List* items) {
  return list<Assignment>(items, [this](const PgNode* item) {
    const ::ResTarget& from = node_as<::ResTarget>(item);
    Assignment to;
    to.column = text(from.name);
    to.indirection = indirection_steps(from.indirection);
    to.expression = expression(from.val);
    to.location = from.location;
    return to;
  });
}

const WithClause* TreeConverter::with_clause(const ::WithClause* from) {
  if (from == nullptr) return nullptr;
  auto* to = arena_.make<WithClause>();
  to->ctes = list<CommonTableExpr>(from->ctes, [this](const PgNode* item) {
    const ::CommonTableExpr& cte = node_as<::CommonTableExpr>(item);
    CommonTableExpr converted;
    converted.name = text(cte.ctename);
    converted.columns = names(cte.aliascolnames);
    if (cte.ctematerialized == CTEMaterializeAlways) {
      converted.materialize = CteMaterialize::always;
    } else if (cte.ctematerialized == CTEMaterializeNever) {
      converted.materialize = CteMaterialize::never;
    }
    converted.query = cte.ctequery->type == T_SelectStmt
                          ? select(node_as<::SelectStmt>(cte.ctequery))
                          : statement(cte.ctequery);
    converted.has_search_or_cycle = cte.search_clause != nullptr || cte.cycle_clause != nullptr;
    converted.location = cte.location;
    return converted;
  });
  to->recursive = from->recursive != 0;
  to->location = from->location;
  return to;
}

const IntoClause* TreeConverter::into_clause(const ::IntoClause* from) {
  if (from == nullptr) return nullptr;
  auto* to = arena_.make<IntoClause>();
  to->relation = range_var(from->rel);
  to->columns = names(from->colNames);
  to->options = def_elems(from->options);
  to->on_commit = static_cast<OnCommit>(from->onCommit);
  to->with_no_data = from->skipData != 0;
  return to;
}

LockingClause TreeConverter::locking_clause(const ::LockingClause& from) {
  LockingClause to;
  to.relations = range_vars(from.lockedRels);
  to.strength = static_cast<LockStrength>(from.strength - LCS_FORKEYSHARE);
  to.wait = static_cast<LockWait>(from.waitPolicy - LockWaitBlock);
  return to;
}

void TreeConverter::fill_plain_select(const ::SelectStmt& from, SelectStmt* to) {
  if (from.distinctClause != nullptr) {
    to->distinct = true;
    // Plain DISTINCT is a list of one null.
    if (first_node(from.distinctClause) != nullptr) {
      to->distinct_on = nodes(from.distinctClause);
    }
  }
  to->targets = targets(from.targetList);
  to->from = from_items(from.fromClause);
  to->where = expression(from.whereClause);
  to->group_by = nodes(from.groupClause);
  to->group_distinct = from.groupDistinct != 0;
  to->having = expression(from.havingClause);
  to->windows = list<WindowDef>(from.windowClause, [this](const PgNode* item) {
    return window_def(node_as<::WindowDef>(item));
  });
  to->values_lists = values_lists(from);
}

List<NodeList> TreeConverter::values_lists(const ::SelectStmt& from) {
  List<NodeList> parsed =
      list<NodeList>(from.valuesLists, [this](const PgNode* item) { return nodes(list_in(item)); });
  if (parsed.empty() || parsed.front().empty()) return parsed;
  const std::vector<NodeList>* taken = rows_.behind(parsed.front().front()->location);
  if (taken == nullptr) return parsed;
  std::span<NodeList> all = arena_.make_span<NodeList>(parsed.size() + taken->size());
  all.front() = parsed.front();
  std::ranges::copy(*taken, all.begin() + 1);
  std::ranges::copy(parsed.subspan(1), all.begin() + 1 + static_cast<ptrdiff_t>(taken->size()));
  return all;
}

const SelectStmt* TreeConverter::select(const ::SelectStmt& from) {
  auto* to = make<SelectStmt>();
  fill_plain_select(from, to);
  to->order_by =
      list<SortBy>(from.sortClause, [this](const PgNode* item) { return sort_by(item); });
  to->limit_offset = expression(from.limitOffset);
  to->limit_count = expression(from.limitCount);
  to->with_ties = from.limitOption == library_limit_with_ties;
  to->locking = list<LockingClause>(from.lockingClause, [this](const PgNode* item) {
    return locking_clause(node_as<::LockingClause>(item));
  });
  to->with = with_clause(from.withClause);
  to->into = into_clause(from.intoClause);
  if (from.op > SETOP_NONE) {
    to->operation = static_cast<SetOperation>(from.op - SETOP_NONE);
    to->all = from.all != 0;
    to->left = select(*from.larg);
    to->right = select(*from.rarg);
  }
  if (!to->targets.empty()) to->location = to->targets[0].location;
  return to;
}

// SELECT ... INTO as a statement of its own is CREATE TABLE AS; the clause stands in the leftmost
// SELECT.
const Node* TreeConverter::select_statement(const ::SelectStmt& from) {
  const SelectStmt* query = select(from);
  auto* leftmost = const_cast<SelectStmt*>(query);
  while (leftmost->left != nullptr) leftmost = const_cast<SelectStmt*>(leftmost->left);
  if (leftmost->into == nullptr) return query;
  auto* to = make<CreateTableAsStmt>();
  to->query = query;
  to->into = leftmost->into;
  to->is_select_into = true;
  leftmost->into = nullptr;
  return to;
}

const OnConflict* TreeConverter::on_conflict(const ::OnConflictClause* from) {
  if (from == nullptr) return nullptr;
  auto* to = arena_.make<OnConflict>();
  to->do_update = from->action == ONCONFLICT_UPDATE;
  if (from->infer != nullptr) {
    to->has_target = true;
    to->inference = index_elements(from->infer->indexElems);
    to->inference_where = expression(from->infer->whereClause);
    to->constraint_name = text(from->infer->conname);
    to->target_location = from->infer->location;
  }
  to->assignments = assignments(from->targetList);
  to->where = expression(from->whereClause);
  to->location = from->location;
  return to;
}

const Node* TreeConverter::insert(const ::InsertStmt& from) {
  auto* to = make<InsertStmt>();
  to->relation = range_var(from.relation);
  to->columns = assignments(from.cols);
  if (from.selectStmt != nullptr) to->source = select(node_as<::SelectStmt>(from.selectStmt));
  to->on_conflict = on_conflict(from.onConflictClause);
  to->returning = targets(from.returningList);
  to->with = with_clause(from.withClause);
  if (from.override == OVERRIDING_USER_VALUE) to->overriding = Overriding::user_value;
  if (from.override == OVERRIDING_SYSTEM_VALUE) to->overriding = Overriding::system_value;
  return to;
}

const Node* TreeConverter::update(const ::UpdateStmt& from) {
  auto* to = make<UpdateStmt>();
  to->relation = range_var(from.relation);
  to->assignments = assignments(from.targetList);
  to->from = from_items(from.fromClause);
  to->where = expression(from.whereClause);
  to->returning = targets(from.returningList);
  to->with = with_clause(from.withClause);
  return to;
}

const Node* TreeConverter::remove(const ::DeleteStmt& from) {
  auto* to = make<DeleteStmt>();
  to->relation = range_var(from.relation);
  to->using_items = from_items(from.usingClause);
  to->where = expression(from.whereClause);
  to->returning = targets(from.returningList);
  to->with = with_clause(from.withClause);
  return to;
}

}  // namespace pgsilo
