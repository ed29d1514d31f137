#include "sql/ast/constant.h"
#include "sql/parser/tree_converter.h"

namespace pgsilo {

using namespace ast;

const Node* TreeConverter::constant_of(const PgQuery__AConst& from) {
  auto of_text = [&](ConstantKind kind, const char* text) {
    return make_text_constant(arena_, kind, text, from.location);
  };
  if (from.isnull) return make_constant(arena_, ConstantKind::null, from.location);
  switch (from.val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL:
      return make_integer(arena_, from.ival->ival, from.location);
    case PG_QUERY__A__CONST__VAL_FVAL:
      return of_text(ConstantKind::decimal, from.fval->fval);
    case PG_QUERY__A__CONST__VAL_BOOLVAL:
      return make_boolean(arena_, from.boolval->boolval != 0, from.location);
    case PG_QUERY__A__CONST__VAL_SVAL:
      return of_text(ConstantKind::string, from.sval->sval);
    case PG_QUERY__A__CONST__VAL_BSVAL:
      return of_text(ConstantKind::bit_string, from.bsval->bsval);
    default:
      // The writer leaves out an integer that is all defaults.
      return make_integer(arena_, 0, from.location);
  }
}

const Node* TreeConverter::operator_expr(const PgQuery__AExpr& from) {
  auto* to = make<OperatorExpr>(from.location);
  // Both enumerations have PostgreSQL's order; theirs begins with "undefined" and then op = 1.
  to->operator_kind = static_cast<OperatorKind>(from.kind - PG_QUERY__A__EXPR__KIND__AEXPR_OP);
  to->name = names(from.name, from.n_name);
  to->left = expression(from.lexpr);
  bool has_list =
      to->operator_kind == OperatorKind::in || to->operator_kind >= OperatorKind::between;
  if (has_list && from.rexpr != nullptr && from.rexpr->node_case == PG_QUERY__NODE__NODE_LIST) {
    to->arguments = nodes(from.rexpr->list->items, from.rexpr->list->n_items);
  } else {
    to->right = expression(from.rexpr);
  }
  return to;
}

const Node* TreeConverter::bool_expr(const PgQuery__BoolExpr& from) {
  auto* to = make<BoolExpr>(from.location);
  switch (from.boolop) {
    case PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR:
      to->op = BoolOperator::or_;
      break;
    case PG_QUERY__BOOL_EXPR_TYPE__NOT_EXPR:
      to->op = BoolOperator::not_;
      break;
    default:
      to->op = BoolOperator::and_;
      break;
  }
  to->arguments = nodes(from.args, from.n_args);
  return to;
}

const Node* TreeConverter::column_ref(const PgQuery__ColumnRef& from) {
  auto* to = make<ColumnRef>(from.location);
  size_t count = from.n_fields;
  if (count > 0 && from.fields[count - 1]->node_case == PG_QUERY__NODE__NODE_A_STAR) {
    to->star = true;
    --count;
  }
  to->fields = names(from.fields, count);
  return to;
}

SortBy TreeConverter::sort_by(const PgNode* node) {
  const PgQuery__SortBy& from = *node->sort_by;
  SortBy to;
  to.expression = expression(from.node);
  switch (from.sortby_dir) {
    case PG_QUERY__SORT_BY_DIR__SORTBY_ASC:
      to.direction = SortDirection::ascending;
      break;
    case PG_QUERY__SORT_BY_DIR__SORTBY_DESC:
      to.direction = SortDirection::descending;
      break;
    case PG_QUERY__SORT_BY_DIR__SORTBY_USING:
      to.direction = SortDirection::using_operator;
      break;
    default:
      break;
  }
  if (from.sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_FIRST)
    to.nulls = NullsOrder::first;
  if (from.sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_LAST) to.nulls = NullsOrder::last;
  to.using_operator = names(from.use_op, from.n_use_op);
  to.location = from.location;
  return to;
}

WindowDef TreeConverter::window_def(const PgQuery__WindowDef& from) {
  WindowDef to;
  to.name = text(from.name);
  to.ref_name = text(from.refname);
  to.partition_by = nodes(from.partition_clause, from.n_partition_clause);
  to.order_by = list<SortBy>(from.order_clause, from.n_order_clause,
                             [this](const PgNode* item) { return sort_by(item); });
  to.frame_options = from.frame_options;
  to.start_offset = expression(from.start_offset);
  to.end_offset = expression(from.end_offset);
  to.location = from.location;
  return to;
}

const Node* TreeConverter::func_call(const PgQuery__FuncCall& from) {
  auto* to = make<FuncCall>(from.location);
  to->name = names(from.funcname, from.n_funcname);
  to->arguments = nodes(from.args, from.n_args);
  to->order_by = list<SortBy>(from.agg_order, from.n_agg_order,
                              [this](const PgNode* item) { return sort_by(item); });
  to->filter = expression(from.agg_filter);
  if (from.over != nullptr) to->over = arena_.make<WindowDef>(window_def(*from.over));
  to->within_group = from.agg_within_group != 0;
  to->star = from.agg_star != 0;
  to->distinct = from.agg_distinct != 0;
  to->variadic = from.func_variadic != 0;
  to->sql_syntax = from.funcformat == PG_QUERY__COERCION_FORM__COERCE_SQL_SYNTAX;
  return to;
}

const Node* TreeConverter::sublink(const PgQuery__SubLink& from) {
  auto* to = make<SubLink>(from.location);
  switch (from.sub_link_type) {
    case PG_QUERY__SUB_LINK_TYPE__EXISTS_SUBLINK:
      to->sublink_kind = SubLinkKind::exists;
      break;
    case PG_QUERY__SUB_LINK_TYPE__ALL_SUBLINK:
      to->sublink_kind = SubLinkKind::all;
      break;
    case PG_QUERY__SUB_LINK_TYPE__ANY_SUBLINK:
      to->sublink_kind = SubLinkKind::any;
      break;
    case PG_QUERY__SUB_LINK_TYPE__ARRAY_SUBLINK:
      to->sublink_kind = SubLinkKind::array;
      break;
    default:
      to->sublink_kind = SubLinkKind::expression;
      break;
  }
  to->test = expression(from.testexpr);
  to->operator_name = names(from.oper_name, from.n_oper_name);
  to->select = select(*from.subselect->select_stmt);
  return to;
}

const Node* TreeConverter::case_expr(const PgQuery__CaseExpr& from) {
  auto* to = make<CaseExpr>(from.location);
  to->argument = expression(from.arg);
  to->whens = list<CaseWhen>(from.args, from.n_args, [this](const PgNode* item) {
    const PgQuery__CaseWhen& when = *item->case_when;
    return CaseWhen{expression(when.expr), expression(when.result), when.location};
  });
  to->otherwise = expression(from.defresult);
  return to;
}

List<IndirectionStep> TreeConverter::indirection_steps(PgNode* const* items, size_t count) {
  return list<IndirectionStep>(items, count, [this](const PgNode* item) {
    IndirectionStep step;
    if (item->node_case == PG_QUERY__NODE__NODE_A_STAR) {
      step.kind = IndirectionStep::Kind::star;
    } else if (item->node_case == PG_QUERY__NODE__NODE_A_INDICES) {
      const PgQuery__AIndices& indices = *item->a_indices;
      step.kind = indices.is_slice ? IndirectionStep::Kind::slice : IndirectionStep::Kind::index;
      step.lower = expression(indices.lidx);
      step.upper = expression(indices.uidx);
    } else {
      step.field = string_of(item);
    }
    return step;
  });
}

const Node* TreeConverter::indirection(const PgQuery__AIndirection& from) {
  auto* to = make<Indirection>();
  to->argument = expression(from.arg);
  to->steps = indirection_steps(from.indirection, from.n_indirection);
  if (to->argument != nullptr) to->location = to->argument->location;
  return to;
}

const Node* TreeConverter::multi_assign(const PgQuery__MultiAssignRef& from) {
  auto* to = make<MultiAssignRef>();
  // The tree repeats the source for each column; we keep the first.
  if (from.colno == 1 || shared_source_ == nullptr) shared_source_ = expression(from.source);
  to->source = shared_source_;
  to->column = from.colno;
  to->columns = from.ncolumns;
  return to;
}

const TypeName* TreeConverter::type_name(const PgQuery__TypeName* from) {
  if (from == nullptr) return nullptr;
  auto* to = arena_.make<TypeName>();
  to->names = names(from->names, from->n_names);
  to->typmods = nodes(from->typmods, from->n_typmods);
  to->array_bounds =
      list<int32_t>(from->array_bounds, from->n_array_bounds, [](const PgNode* item) {
        return item->node_case == PG_QUERY__NODE__NODE_INTEGER ? item->integer->ival : -1;
      });
  to->setof = from->setof != 0;
  to->percent_type = from->pct_type != 0;
  to->location = from->location;
  return to;
}

const CollateClause* TreeConverter::collate_clause(const PgQuery__CollateClause* from) {
  if (from == nullptr) return nullptr;
  auto* to = make<CollateClause>(from->location);
  to->argument = expression(from->arg);
  to->collation = names(from->collname, from->n_collname);
  return to;
}

const Node* TreeConverter::test_expr(const PgNode* node) {
  if (node->node_case == PG_QUERY__NODE__NODE_NULL_TEST) {
    const PgQuery__NullTest& from = *node->null_test;
    auto* to = make<NullTest>(from.location);
    to->argument = expression(from.arg);
    to->is_not_null = from.nulltesttype == PG_QUERY__NULL_TEST_TYPE__IS_NOT_NULL;
    return to;
  }
  const PgQuery__BooleanTest& from = *node->boolean_test;
  auto* to = make<BooleanTest>(from.location);
  to->argument = expression(from.arg);
  to->test = static_cast<BooleanTestKind>(from.booltesttype - PG_QUERY__BOOL_TEST_TYPE__IS_TRUE);
  return to;
}

const Node* TreeConverter::expression(const PgNode* node) {
  if (node == nullptr) return nullptr;
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_A_CONST:
      return constant_of(*node->a_const);
    case PG_QUERY__NODE__NODE_COLUMN_REF:
      return column_ref(*node->column_ref);
    case PG_QUERY__NODE__NODE_A_EXPR:
      return operator_expr(*node->a_expr);
    case PG_QUERY__NODE__NODE_BOOL_EXPR:
      return bool_expr(*node->bool_expr);
    case PG_QUERY__NODE__NODE_FUNC_CALL:
      return func_call(*node->func_call);
    case PG_QUERY__NODE__NODE_SUB_LINK:
      return sublink(*node->sub_link);
    case PG_QUERY__NODE__NODE_CASE_EXPR:
      return case_expr(*node->case_expr);
    case PG_QUERY__NODE__NODE_NULL_TEST:
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST:
      return test_expr(node);
    case PG_QUERY__NODE__NODE_A_INDIRECTION:
      return indirection(*node->a_indirection);
    case PG_QUERY__NODE__NODE_MULTI_ASSIGN_REF:
      return multi_assign(*node->multi_assign_ref);
    case PG_QUERY__NODE__NODE_COLLATE_CLAUSE:
      return collate_clause(node->collate_clause);
    case PG_QUERY__NODE__NODE_PARAM_REF: {
      auto* to = make<ParamRef>(node->param_ref->location);
      to->number = node->param_ref->number;
      return to;
    }
    case PG_QUERY__NODE__NODE_TYPE_CAST: {
      auto* to = make<TypeCast>(node->type_cast->location);
      to->argument = expression(node->type_cast->arg);
      to->type = type_name(node->type_cast->type_name);
      return to;
    }
    default:
      return other_expression(node);
  }
}

const Node* TreeConverter::other_expression(const PgNode* node) {
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_COALESCE_EXPR: {
      auto* to = make<CoalesceExpr>(node->coalesce_expr->location);
      to->arguments = nodes(node->coalesce_expr->args, node->coalesce_expr->n_args);
      return to;
    }
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR: {
      auto* to = make<MinMaxExpr>(node->min_max_expr->location);
      to->is_least = node->min_max_expr->op == PG_QUERY__MIN_MAX_OP__IS_LEAST;
      to->arguments = nodes(node->min_max_expr->args, node->min_max_expr->n_args);
      return to;
    }
    case PG_QUERY__NODE__NODE_ROW_EXPR: {
      auto* to = make<RowExpr>(node->row_expr->location);
      to->arguments = nodes(node->row_expr->args, node->row_expr->n_args);
      to->is_explicit = node->row_expr->row_format == PG_QUERY__COERCION_FORM__COERCE_EXPLICIT_CALL;
      return to;
    }
    case PG_QUERY__NODE__NODE_A_ARRAY_EXPR: {
      auto* to = make<ArrayExpr>(node->a_array_expr->location);
      to->elements = nodes(node->a_array_expr->elements, node->a_array_expr->n_elements);
      return to;
    }
    case PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION: {
      const PgQuery__SQLValueFunction& from = *node->sqlvalue_function;
      auto* to = make<SqlValueFunction>(from.location);
      to->value =
          static_cast<SqlValue>(from.op - PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_DATE);
      to->typmod = from.typmod;
      return to;
    }
    case PG_QUERY__NODE__NODE_SET_TO_DEFAULT:
      return make<SetToDefault>(node->set_to_default->location);
    default:
      return rare_expression(node);
  }
}

const Node* TreeConverter::rare_expression(const PgNode* node) {
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_GROUPING_SET: {
      auto* to = make<GroupingSet>(node->grouping_set->location);
      to->set_kind = static_cast<GroupingSetKind>(node->grouping_set->kind -
                                                  PG_QUERY__GROUPING_SET_KIND__GROUPING_SET_EMPTY);
      to->content = nodes(node->grouping_set->content, node->grouping_set->n_content);
      return to;
    }
    case PG_QUERY__NODE__NODE_GROUPING_FUNC: {
      auto* to = make<GroupingFunc>(node->grouping_func->location);
      to->arguments = nodes(node->grouping_func->args, node->grouping_func->n_args);
      return to;
    }
    case PG_QUERY__NODE__NODE_NAMED_ARG_EXPR: {
      auto* to = make<NamedArgument>(node->named_arg_expr->location);
      to->name = text(node->named_arg_expr->name);
      to->argument = expression(node->named_arg_expr->arg);
      return to;
    }
    case PG_QUERY__NODE__NODE_CURRENT_OF_EXPR: {
      auto* to = make<CurrentOf>();
      to->cursor_name = text(node->current_of_expr->cursor_name);
      return to;
    }
    case PG_QUERY__NODE__NODE_A_STAR:
      return make<Star>();
    case PG_QUERY__NODE__NODE_LIST: {
      // A row of row-wise IN or OVERLAPS.
      auto* to = make<RowExpr>();
      to->arguments = nodes(node->list->items, node->list->n_items);
      return to;
    }
    case PG_QUERY__NODE__NODE_XML_EXPR:
      unsupported("XML", node->xml_expr->location);
    case PG_QUERY__NODE__NODE_XML_SERIALIZE:
      unsupported("XMLSERIALIZE", node->xml_serialize->location);
    default:
      unsupported("this expression", -1);
  }
}

}  // namespace pgsilo
