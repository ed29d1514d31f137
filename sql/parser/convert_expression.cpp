#include "sql/ast/constant.h"
#include "sql/parser/tree_converter.h"

namespace pgsilo {

using namespace ast;

const Node* TreeConverter::constant_of(const ::A_Const& from) {
  auto of_text = [&](ConstantKind kind, const char* text) {
    return make_text_constant(arena_, kind, text, from.location);
  };
  if (from.isnull) return make_constant(arena_, ConstantKind::null, from.location);
  switch (from.val.node.type) {
    case T_Float:
      return of_text(ConstantKind::decimal, from.val.fval.fval);
    case T_Boolean:
      return make_boolean(arena_, from.val.boolval.boolval, from.location);
    case T_String:
      return of_text(ConstantKind::string, from.val.sval.sval);
    case T_BitString:
      return of_text(ConstantKind::bit_string, from.val.bsval.bsval);
    default:
      return make_integer(arena_, from.val.ival.ival, from.location);
  }
}

const Node* TreeConverter::operator_expr(const ::A_Expr& from) {
  auto* to = make<OperatorExpr>(from.location);
  // Both enumerations have PostgreSQL's order.
  to->operator_kind = static_cast<OperatorKind>(from.kind);
  to->name = names(from.name);
  to->left = expression(from.lexpr);
  bool has_list =
      to->operator_kind == OperatorKind::in || to->operator_kind >= OperatorKind::between;
  if (const auto* items = has_list ? try_node<::List>(from.rexpr) : nullptr; items != nullptr) {
    to->arguments = nodes(items);
  } else {
    to->right = expression(from.rexpr);
  }
  return to;
}

const Node* TreeConverter::bool_expr(const ::BoolExpr& from) {
  auto* to = make<BoolExpr>(from.location);
  switch (from.boolop) {
    case OR_EXPR:
      to->op = BoolOperator::or_;
      break;
    case NOT_EXPR:
      to->op = BoolOperator::not_;
      break;
    default:
      to->op = BoolOperator::and_;
      break;
  }
  to->arguments = nodes(from.args);
  return to;
}

const Node* TreeConverter::column_ref(const ::ColumnRef& from) {
  auto* to = make<ColumnRef>(from.location);
  to->fields = names(from.fields);
  to->star = last_node(from.fields)->type == T_A_Star;
  if (to->star) to->fields = to->fields.first(to->fields.size() - 1);
  return to;
}

SortBy TreeConverter::sort_by(const PgNode* node) {
  const ::SortBy& from = node_as<::SortBy>(node);
  SortBy to;
  to.expression = expression(from.node);
  switch (from.sortby_dir) {
    case SORTBY_ASC:
      to.direction = SortDirection::ascending;
      break;
    case SORTBY_DESC:
      to.direction = SortDirection::descending;
      break;
    case SORTBY_USING:
      to.direction = SortDirection::using_operator;
      break;
    default:
      break;
  }
  if (from.sortby_nulls == SORTBY_NULLS_FIRST) to.nulls = NullsOrder::first;
  if (from.sortby_nulls == SORTBY_NULLS_LAST) to.nulls = NullsOrder::last;
  to.using_operator = names(from.useOp);
  to.location = from.location;
  return to;
}

WindowDef TreeConverter::window_def(const ::WindowDef& from) {
  WindowDef to;
  to.name = text(from.name);
  to.ref_name = text(from.refname);
  to.partition_by = nodes(from.partitionClause);
  to.order_by =
      list<SortBy>(from.orderClause, [this](const PgNode* item) { return sort_by(item); });
  to.frame_options = from.frameOptions;
  to.start_offset = expression(from.startOffset);
  to.end_offset = expression(from.endOffset);
  to.location = from.location;
  return to;
}

const Node* TreeConverter::func_call(const ::FuncCall& from) {
  auto* to = make<FuncCall>(from.location);
  to->name = names(from.funcname);
  to->arguments = nodes(from.args);
  to->order_by = list<SortBy>(from.agg_order, [this](const PgNode* item) { return sort_by(item); });
  to->filter = expression(from.agg_filter);
  if (from.over != nullptr) to->over = arena_.make<WindowDef>(window_def(*from.over));
  to->within_group = from.agg_within_group != 0;
  to->star = from.agg_star != 0;
  to->distinct = from.agg_distinct != 0;
  to->variadic = from.func_variadic != 0;
  to->sql_syntax = from.funcformat == COERCE_SQL_SYNTAX;
  return to;
}

const Node* TreeConverter::sublink(const ::SubLink& from) {
  auto* to = make<SubLink>(from.location);
  switch (from.subLinkType) {
    case EXISTS_SUBLINK:
      to->sublink_kind = SubLinkKind::exists;
      break;
    case ALL_SUBLINK:
      to->sublink_kind = SubLinkKind::all;
      break;
    case ANY_SUBLINK:
      to->sublink_kind = SubLinkKind::any;
      break;
    case ARRAY_SUBLINK:
      to->sublink_kind = SubLinkKind::array;
      break;
    default:
      to->sublink_kind = SubLinkKind::expression;
      break;
  }
  to->test = expression(from.testexpr);
  to->operator_name = names(from.operName);
  to->select = select(node_as<::SelectStmt>(from.subselect));
  return to;
}

const Node* TreeConverter::case_expr(const ::CaseExpr& from) {
  auto* to = make<CaseExpr>(from.location);
  to->argument = expression(from.arg);
  to->whens = list<CaseWhen>(from.args, [this](const PgNode* item) {
    const ::CaseWhen& when = node_as<::CaseWhen>(item);
    return CaseWhen{expression(when.expr), expression(when.result), when.location};
  });
  to->otherwise = expression(from.defresult);
  return to;
}

List<IndirectionStep> TreeConverter::indirection_steps(const ::List* items) {
  return list<IndirectionStep>(items, [this](const PgNode* item) {
    IndirectionStep step;
    if (item->type == T_A_Star) {
      step.kind = IndirectionStep::Kind::star;
    } else if (item->type == T_A_Indices) {
      const ::A_Indices& indices = node_as<::A_Indices>(item);
      step.kind = indices.is_slice ? IndirectionStep::Kind::slice : IndirectionStep::Kind::index;
      step.lower = expression(indices.lidx);
      step.upper = expression(indices.uidx);
    } else {
      step.field = string_of(item);
    }
    return step;
  });
}

const Node* TreeConverter::indirection(const ::A_Indirection& from) {
  auto* to = make<Indirection>();
  to->argument = expression(from.arg);
  to->steps = indirection_steps(from.indirection);
  if (to->argument != nullptr) to->location = to->argument->location;
  return to;
}

const Node* TreeConverter::multi_assign(const ::MultiAssignRef& from) {
  auto* to = make<MultiAssignRef>();
  // The tree repeats the source for each column; we keep the first.
  if (from.colno == 1 || shared_source_ == nullptr) shared_source_ = expression(from.source);
  to->source = shared_source_;
  to->column = from.colno;
  to->columns = from.ncolumns;
  return to;
}

const TypeName* TreeConverter::type_name(const ::TypeName* from) {
  if (from == nullptr) return nullptr;
  auto* to = arena_.make<TypeName>();
  to->names = names(from->names);
  to->typmods = nodes(from->typmods);
  to->array_bounds = list<int32_t>(from->arrayBounds, [](const PgNode* item) {
    return item->type == T_Integer ? node_as<::Integer>(item).ival : -1;
  });
  to->setof = from->setof != 0;
  to->percent_type = from->pct_type != 0;
  to->location = from->location;
  return to;
}

const CollateClause* TreeConverter::collate_clause(const ::CollateClause* from) {
  if (from == nullptr) return nullptr;
  auto* to = make<CollateClause>(from->location);
  to->argument = expression(from->arg);
  to->collation = names(from->collname);
  return to;
}

const Node* TreeConverter::test_expr(const PgNode* node) {
  if (node->type == T_NullTest) {
    const ::NullTest& from = node_as<::NullTest>(node);
    auto* to = make<NullTest>(from.location);
    to->argument = expression(from.arg);
    to->is_not_null = from.nulltesttype == IS_NOT_NULL;
    return to;
  }
  const ::BooleanTest& from = node_as<::BooleanTest>(node);
  auto* to = make<BooleanTest>(from.location);
  to->argument = expression(from.arg);
  to->test = static_cast<BooleanTestKind>(from.booltesttype - IS_TRUE);
  return to;
}

const Node* TreeConverter::expression(const PgNode* node) {
  if (node == nullptr) return nullptr;
  switch (node->type) {
    case T_A_Const:
      return constant_of(node_as<::A_Const>(node));
    case T_ColumnRef:
      return column_ref(node_as<::ColumnRef>(node));
    case T_A_Expr:
      return operator_expr(node_as<::A_Expr>(node));
    case T_BoolExpr:
      return bool_expr(node_as<::BoolExpr>(node));
    case T_FuncCall:
      return func_call(node_as<::FuncCall>(node));
    case T_SubLink:
      return sublink(node_as<::SubLink>(node));
    case T_CaseExpr:
      return case_expr(node_as<::CaseExpr>(node));
    case T_NullTest:
    case T_BooleanTest:
      return test_expr(node);
    case T_A_Indirection:
      return indirection(node_as<::A_Indirection>(node));
    case T_MultiAssignRef:
      return multi_assign(node_as<::MultiAssignRef>(node));
    case T_CollateClause:
      return collate_clause(&node_as<::CollateClause>(node));
    case T_ParamRef: {
      auto* to = make<ParamRef>(node_as<::ParamRef>(node).location);
      to->number = node_as<::ParamRef>(node).number;
      return to;
    }
    case T_TypeCast: {
      auto* to = make<TypeCast>(node_as<::TypeCast>(node).location);
      to->argument = expression(node_as<::TypeCast>(node).arg);
      to->type = type_name(node_as<::TypeCast>(node).typeName);
      return to;
    }
    default:
      return other_expression(node);
  }
}

const Node* TreeConverter::other_expression(const PgNode* node) {
  switch (node->type) {
    case T_CoalesceExpr: {
      auto* to = make<CoalesceExpr>(node_as<::CoalesceExpr>(node).location);
      to->arguments = nodes(node_as<::CoalesceExpr>(node).args);
      return to;
    }
    case T_MinMaxExpr: {
      auto* to = make<MinMaxExpr>(node_as<::MinMaxExpr>(node).location);
      to->is_least = node_as<::MinMaxExpr>(node).op == IS_LEAST;
      to->arguments = nodes(node_as<::MinMaxExpr>(node).args);
      return to;
    }
    case T_RowExpr: {
      auto* to = make<RowExpr>(node_as<::RowExpr>(node).location);
      to->arguments = nodes(node_as<::RowExpr>(node).args);
      to->is_explicit = node_as<::RowExpr>(node).row_format == COERCE_EXPLICIT_CALL;
      return to;
    }
    case T_A_ArrayExpr: {
      auto* to = make<ArrayExpr>(node_as<::A_ArrayExpr>(node).location);
      to->elements = nodes(node_as<::A_ArrayExpr>(node).elements);
      return to;
    }
    case T_SQLValueFunction: {
      const ::SQLValueFunction& from = node_as<::SQLValueFunction>(node);
      auto* to = make<SqlValueFunction>(from.location);
      to->value = static_cast<SqlValue>(from.op - SVFOP_CURRENT_DATE);
      to->typmod = from.typmod;
      return to;
    }
    case T_SetToDefault:
      return make<SetToDefault>(node_as<::SetToDefault>(node).location);
    default:
      return rare_expression(node);
  }
}

const Node* TreeConverter::rare_expression(const PgNode* node) {
  switch (node->type) {
    case T_GroupingSet: {
      auto* to = make<GroupingSet>(node_as<::GroupingSet>(node).location);
      to->set_kind =
          static_cast<GroupingSetKind>(node_as<::GroupingSet>(node).kind - GROUPING_SET_EMPTY);
      to->content = nodes(node_as<::GroupingSet>(node).content);
      return to;
    }
    case T_GroupingFunc: {
      auto* to = make<GroupingFunc>(node_as<::GroupingFunc>(node).location);
      to->arguments = nodes(node_as<::GroupingFunc>(node).args);
      return to;
    }
    case T_NamedArgExpr: {
      auto* to = make<NamedArgument>(node_as<::NamedArgExpr>(node).location);
      to->name = text(node_as<::NamedArgExpr>(node).name);
      to->argument = expression(node_as<::NamedArgExpr>(node).arg);
      return to;
    }
    case T_CurrentOfExpr: {
      auto* to = make<CurrentOf>();
      to->cursor_name = text(node_as<::CurrentOfExpr>(node).cursor_name);
      return to;
    }
    case T_A_Star:
      return make<Star>();
    case T_List: {
      // A row of row-wise IN or OVERLAPS.
      auto* to = make<RowExpr>();
      to->arguments = nodes(list_in(node));
      return to;
    }
    case T_XmlExpr:
      unsupported("XML", node_as<::XmlExpr>(node).location);
    case T_XmlSerialize:
      unsupported("XMLSERIALIZE", node_as<::XmlSerialize>(node).location);
    default:
      unsupported("this expression", -1);
  }
}

}  // namespace pgsilo
