#include <algorithm>

#include "sql/parser/tree_converter.h"

namespace pgsilo {

using namespace ast;

const Alias* TreeConverter::alias(const PgQuery__Alias* from) {
  if (from == nullptr) return nullptr;
  auto* to = arena_.make<Alias>();
  to->name = text(from->aliasname);
  to->columns = names(from->colnames, from->n_colnames);
  return to;
}

const RangeVar* TreeConverter::range_var(const PgQuery__RangeVar* from) {
  if (from == nullptr) return nullptr;
  auto* to = make<RangeVar>(from->location);
  to->catalog_name = text(from->catalogname);
  to->schema_name = text(from->schemaname);
  to->name = text(from->relname);
  to->alias = alias(from->alias);
  to->only = from->inh == 0;
  switch (from->relpersistence != nullptr ? from->relpersistence[0] : 'p') {
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

List<const RangeVar*> TreeConverter::range_vars(PgNode* const* items, size_t count) {
  return list<const RangeVar*>(items, count,
                               [this](const PgNode* item) { return range_var(item->range_var); });
}

const Node* TreeConverter::range_function(const PgQuery__RangeFunction& from) {
  auto* to = make<RangeFunction>();
  to->functions =
      list<RangeFunctionItem>(from.functions, from.n_functions, [this](const PgNode* item) {
        // Each is a list of the call and its column definitions.
        const PgQuery__List& pair = *item->list;
        RangeFunctionItem function;
        function.call = expression(pair.items[0]);
        if (pair.n_items > 1 && pair.items[1]->node_case == PG_QUERY__NODE__NODE_LIST) {
          function.column_defs =
              column_defs(pair.items[1]->list->items, pair.items[1]->list->n_items);
        }
        return function;
      });
  to->alias = alias(from.alias);
  to->column_defs = column_defs(from.coldeflist, from.n_coldeflist);
  to->lateral = from.lateral != 0;
  to->with_ordinality = from.ordinality != 0;
  to->is_rows_from = from.is_rowsfrom != 0;
  if (!to->functions.empty()) to->location = to->functions[0].call->location;
  return to;
}

const Node* TreeConverter::join(const PgQuery__JoinExpr& from) {
  auto* to = make<JoinExpr>();
  to->join_kind = static_cast<JoinKind>(from.jointype - PG_QUERY__JOIN_TYPE__JOIN_INNER);
  to->natural = from.is_natural != 0;
  to->left = from_item(from.larg);
  to->right = from_item(from.rarg);
  to->using_columns = names(from.using_clause, from.n_using_clause);
  if (from.join_using_alias != nullptr) to->using_alias = text(from.join_using_alias->aliasname);
  to->condition = expression(from.quals);
  to->alias = alias(from.alias);
  return to;
}

const Node* TreeConverter::from_item(const PgNode* node) {
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_RANGE_VAR:
      return range_var(node->range_var);
    case PG_QUERY__NODE__NODE_JOIN_EXPR:
      return join(*node->join_expr);
    case PG_QUERY__NODE__NODE_RANGE_FUNCTION:
      return range_function(*node->range_function);
    case PG_QUERY__NODE__NODE_RANGE_SUBSELECT: {
      auto* to = make<RangeSubselect>();
      to->select = select(*node->range_subselect->subquery->select_stmt);
      to->alias = alias(node->range_subselect->alias);
      to->lateral = node->range_subselect->lateral != 0;
      return to;
    }
    case PG_QUERY__NODE__NODE_RANGE_TABLE_SAMPLE:
      unsupported("TABLESAMPLE", node->range_table_sample->location);
    case PG_QUERY__NODE__NODE_RANGE_TABLE_FUNC:
      unsupported("XMLTABLE", node->range_table_func->location);
    default:
      unsupported("this item of FROM", -1);
  }
}

NodeList TreeConverter::from_items(PgNode* const* items, size_t count) {
  return list<const Node*>(items, count, [this](const PgNode* item) { return from_item(item); });
}

List<Target> TreeConverter::targets(PgNode* const* items, size_t count) {
  return list<Target>(items, count, [this](const PgNode* item) {
    const PgQuery__ResTarget& from = *item->res_target;
    return Target{text(from.name), expression(from.val), from.location};
  });
}

List<Assignment> TreeConverter::assignments(PgNode* const* items, size_t count) {
  return list<Assignment>(items, count, [this](const PgNode* item) {
    const PgQuery__ResTarget& from = *item->res_target;
    Assignment to;
    to.column = text(from.name);
    to.indirection = indirection_steps(from.indirection, from.n_indirection);
    to.expression = expression(from.val);
    to.location = from.location;
    return to;
  });
}

const WithClause* TreeConverter::with_clause(const PgQuery__WithClause* from) {
  if (from == nullptr) return nullptr;
  auto* to = arena_.make<WithClause>();
  to->ctes = list<CommonTableExpr>(from->ctes, from->n_ctes, [this](const PgNode* item) {
    const PgQuery__CommonTableExpr& cte = *item->common_table_expr;
    CommonTableExpr converted;
    converted.name = text(cte.ctename);
    converted.columns = names(cte.aliascolnames, cte.n_aliascolnames);
    if (cte.ctematerialized == PG_QUERY__CTEMATERIALIZE__CTEMaterializeAlways) {
      converted.materialize = CteMaterialize::always;
    } else if (cte.ctematerialized == PG_QUERY__CTEMATERIALIZE__CTEMaterializeNever) {
      converted.materialize = CteMaterialize::never;
    }
    converted.query = cte.ctequery->node_case == PG_QUERY__NODE__NODE_SELECT_STMT
                          ? select(*cte.ctequery->select_stmt)
                          : statement(cte.ctequery);
    converted.has_search_or_cycle = cte.search_clause != nullptr || cte.cycle_clause != nullptr;
    converted.location = cte.location;
    return converted;
  });
  to->recursive = from->recursive != 0;
  to->location = from->location;
  return to;
}

const IntoClause* TreeConverter::into_clause(const PgQuery__IntoClause* from) {
  if (from == nullptr) return nullptr;
  auto* to = arena_.make<IntoClause>();
  to->relation = range_var(from->rel);
  to->columns = names(from->col_names, from->n_col_names);
  to->options = def_elems(from->options, from->n_options);
  to->with_no_data = from->skip_data != 0;
  return to;
}

LockingClause TreeConverter::locking_clause(const PgQuery__LockingClause& from) {
  LockingClause to;
  to.relations = range_vars(from.locked_rels, from.n_locked_rels);
  to.strength =
      static_cast<LockStrength>(from.strength - PG_QUERY__LOCK_CLAUSE_STRENGTH__LCS_FORKEYSHARE);
  to.wait = static_cast<LockWait>(from.wait_policy - PG_QUERY__LOCK_WAIT_POLICY__LockWaitBlock);
  return to;
}

void TreeConverter::fill_plain_select(const PgQuery__SelectStmt& from, SelectStmt* to) {
  if (from.n_distinct_clause > 0) {
    to->distinct = true;
    // Plain DISTINCT is a list of one empty node.
    if (from.distinct_clause[0]->node_case != PG_QUERY__NODE__NODE__NOT_SET) {
      to->distinct_on = nodes(from.distinct_clause, from.n_distinct_clause);
    }
  }
  to->targets = targets(from.target_list, from.n_target_list);
  to->from = from_items(from.from_clause, from.n_from_clause);
  to->where = expression(from.where_clause);
  to->group_by = nodes(from.group_clause, from.n_group_clause);
  to->group_distinct = from.group_distinct != 0;
  to->having = expression(from.having_clause);
  to->windows =
      list<WindowDef>(from.window_clause, from.n_window_clause,
                      [this](const PgNode* item) { return window_def(*item->window_def); });
  to->values_lists = values_lists(from);
}

List<NodeList> TreeConverter::values_lists(const PgQuery__SelectStmt& from) {
  List<NodeList> parsed = list<NodeList>(
      from.values_lists, from.n_values_lists,
      [this](const PgNode* item) { return nodes(item->list->items, item->list->n_items); });
  if (parsed.empty() || parsed.front().empty()) return parsed;
  const std::vector<NodeList>* taken = rows_.behind(parsed.front().front()->location);
  if (taken == nullptr) return parsed;
  std::span<NodeList> all = arena_.make_span<NodeList>(parsed.size() + taken->size());
  all.front() = parsed.front();
  std::ranges::copy(*taken, all.begin() + 1);
  std::ranges::copy(parsed.subspan(1), all.begin() + 1 + static_cast<ptrdiff_t>(taken->size()));
  return all;
}

const SelectStmt* TreeConverter::select(const PgQuery__SelectStmt& from) {
  auto* to = make<SelectStmt>();
  fill_plain_select(from, to);
  to->order_by = list<SortBy>(from.sort_clause, from.n_sort_clause,
                              [this](const PgNode* item) { return sort_by(item); });
  to->limit_offset = expression(from.limit_offset);
  to->limit_count = expression(from.limit_count);
  to->with_ties = from.limit_option == PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_WITH_TIES;
  to->locking = list<LockingClause>(
      from.locking_clause, from.n_locking_clause,
      [this](const PgNode* item) { return locking_clause(*item->locking_clause); });
  to->with = with_clause(from.with_clause);
  to->into = into_clause(from.into_clause);
  if (from.op > PG_QUERY__SET_OPERATION__SETOP_NONE) {
    to->operation = static_cast<SetOperation>(from.op - PG_QUERY__SET_OPERATION__SETOP_NONE);
    to->all = from.all != 0;
    to->left = select(*from.larg);
    to->right = select(*from.rarg);
  }
  if (!to->targets.empty()) to->location = to->targets[0].location;
  return to;
}

// SELECT ... INTO as a statement of its own is CREATE TABLE AS; the clause stands in the leftmost
// SELECT.
const Node* TreeConverter::select_statement(const PgQuery__SelectStmt& from) {
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

const OnConflict* TreeConverter::on_conflict(const PgQuery__OnConflictClause* from) {
  if (from == nullptr) return nullptr;
  auto* to = arena_.make<OnConflict>();
  to->do_update = from->action == PG_QUERY__ON_CONFLICT_ACTION__ONCONFLICT_UPDATE;
  if (from->infer != nullptr) {
    to->has_target = true;
    to->inference = index_elements(from->infer->index_elems, from->infer->n_index_elems);
    to->inference_where = expression(from->infer->where_clause);
    to->constraint_name = text(from->infer->conname);
    to->target_location = from->infer->location;
  }
  to->assignments = assignments(from->target_list, from->n_target_list);
  to->where = expression(from->where_clause);
  to->location = from->location;
  return to;
}

const Node* TreeConverter::insert(const PgQuery__InsertStmt& from) {
  auto* to = make<InsertStmt>();
  to->relation = range_var(from.relation);
  to->columns = assignments(from.cols, from.n_cols);
  if (from.select_stmt != nullptr) to->source = select(*from.select_stmt->select_stmt);
  to->on_conflict = on_conflict(from.on_conflict_clause);
  to->returning = targets(from.returning_list, from.n_returning_list);
  to->with = with_clause(from.with_clause);
  if (from.override == PG_QUERY__OVERRIDING_KIND__OVERRIDING_USER_VALUE)
    to->overriding = Overriding::user_value;
  if (from.override == PG_QUERY__OVERRIDING_KIND__OVERRIDING_SYSTEM_VALUE)
    to->overriding = Overriding::system_value;
  return to;
}

const Node* TreeConverter::update(const PgQuery__UpdateStmt& from) {
  auto* to = make<UpdateStmt>();
  to->relation = range_var(from.relation);
  to->assignments = assignments(from.target_list, from.n_target_list);
  to->from = from_items(from.from_clause, from.n_from_clause);
  to->where = expression(from.where_clause);
  to->returning = targets(from.returning_list, from.n_returning_list);
  to->with = with_clause(from.with_clause);
  return to;
}

const Node* TreeConverter::remove(const PgQuery__DeleteStmt& from) {
  auto* to = make<DeleteStmt>();
  to->relation = range_var(from.relation);
  to->using_items = from_items(from.using_clause, from.n_using_clause);
  to->where = expression(from.where_clause);
  to->returning = targets(from.returning_list, from.n_returning_list);
  to->with = with_clause(from.with_clause);
  return to;
}

}  // namespace pgsilo
