// What only expressions of a query have: columns, aggregates, subqueries.
#include <algorithm>
#include <utility>

#include "base/byte_buffer.h"
#include "catalog/builtin/builtin.h"
#include "planner/bound/expression_tree.h"
#include "planner/explain/deparse_constant.h"
#include "planner/explain/deparse_pretty.h"
#include "planner/explain/query_deparser.h"

namespace pgsilo {

namespace {

// May be what a name of FROM stands for: a merged column of a join, one of a system table.
bool may_have_name(const BoundExpression& e) {
  switch (e.kind) {
    case ExpressionKind::column:
    case ExpressionKind::coalesce:
    case ExpressionKind::relabel:
    case ExpressionKind::io_conversion:
    case ExpressionKind::array_coercion:
    case ExpressionKind::domain_coercion:
    case ExpressionKind::call:
      return true;
    default:
      return false;
  }
}

// In PostgreSQL: these have parentheses in GROUP BY even where others have their own.
bool is_function(const BoundExpression& e) {
  switch (e.kind) {
    case ExpressionKind::call: {
      auto* call = as<CallExpression>(&e);
      return call->form != CallForm::infix_operator && call->procedure != array_element_procedure &&
             call->procedure != array_slice_procedure;
    }
    case ExpressionKind::aggregate:
    case ExpressionKind::set_returning:
    case ExpressionKind::typmod_coercion:
      return true;
    default:
      return false;
  }
}

// The first comparison whose right side is what `matches` finds.
const CallExpression* find_comparison(const BoundExpression& condition,
                                      FunctionRef<bool(const BoundExpression&)> matches) {
  const CallExpression* found = nullptr;
  contains(condition, [&](const BoundExpression& e) {
    auto* call = try_as<CallExpression>(&e);
    if (found == nullptr && call != nullptr && call->form == CallForm::infix_operator &&
        call->arguments.size() == 2 && contains(*call->arguments[1], matches))
      found = call;
    return found != nullptr;
  });
  return found;
}

std::string_view operator_name(const CallExpression& call) {
  const BuiltinOperator* op = find_operator(call.operator_oid);
  return op == nullptr ? std::string_view("?") : op->name;
}

// One column of a row that a subquery gives: (a, b) = (SELECT ...) compares each.
const SublinkExpression* column_of_row(const BoundExpression& e) {
  auto* sublink = try_as<SublinkExpression>(&e);
  bool is_one = sublink != nullptr && sublink->sublink_kind == SublinkKind::scalar &&
                sublink->query->visible_targets > 1;
  return is_one ? sublink : nullptr;
}

// What a comparison has on its right, if that is one.
const SublinkExpression* compared_column(const BoundExpression& e) {
  auto* call = try_as<CallExpression>(&e);
  if (call == nullptr || call->form != CallForm::infix_operator || call->arguments.size() != 2)
    return nullptr;
  const SublinkExpression* found = nullptr;
  contains(*call->arguments[1], [&](const BoundExpression& right) {
    found = column_of_row(right);
    return found != nullptr;
  });
  return found;
}

bool begins_row(const BoundExpression* e) {
  const SublinkExpression* column = compared_column(*e);
  return column != nullptr && column->column == 0;
}

// A comparison of the next column, or (a = c AND (b < d ...)) behind a < c.
bool continues_row(const BoundExpression* e) {
  auto* both = try_as<BooleanExpression>(e);
  if (both != nullptr) return both->op == BooleanOperator::and_ && begins_row(both->arguments[0]);
  const SublinkExpression* column = compared_column(*e);
  return column != nullptr && column->column > 0;
}

// Whether the comparison of the first column is all, but for where it says equal.
bool is_by_order(const BoundExpression& e) {
  std::string_view op = operator_name(*as<CallExpression>(&e));
  return op == "<" || op == ">";
}

// Where the comparison that begins at `begin` ends.
size_t row_end(ExpressionList parts, size_t begin) {
  const BoundExpression& first = *parts[begin];
  size_t end = begin + 1;
  if (!begins_row(&first)) return end;
  auto count = static_cast<size_t>(compared_column(first)->query->visible_targets);
  size_t last = std::min(parts.size(), begin + (is_by_order(first) ? 2 : count));
  while (end < last && continues_row(parts[end])) ++end;
  return end;
}

}  // namespace

ShownName QueryDeparser::name_of(const BoundExpression& e) const {
  if (!may_have_name(e)) return {};
  auto count = static_cast<int32_t>(levels_.size());
  if (auto* column = try_as<ColumnExpression>(&e)) {
    int32_t up = column->levels_up;
    return up < count ? levels_[count - 1 - up]->names.find(e, up) : ShownName{};
  }
  for (int32_t up = 0; up < count; ++up) {
    ShownName found = levels_[count - 1 - up]->names.find(e, up);
    if (!found.column.empty()) return found;
  }
  return {};
}

std::string QueryDeparser::column_text(const ShownName& name) const {
  std::string column = quote_identifier(name.column);
  return name.relation.empty() ? column : concat(quote_identifier(name.relation), ".", column);
}

std::string QueryDeparser::text(const BoundExpression& e) {
  ShownName name = name_of(e);
  if (!name.column.empty()) return column_text(name);
  switch (e.kind) {
    case ExpressionKind::aggregate:
      return aggregate(*as<AggregateExpression>(&e));
    case ExpressionKind::sublink:
      return sublink(*as<SublinkExpression>(&e));
    case ExpressionKind::boolean:
      return row_comparisons(*as<BooleanExpression>(&e));
    case ExpressionKind::set_returning:
      return expression(*as<SetReturningExpression>(&e)->call, true);
    default:
      return {};
  }
}

// In ORDER BY and its kin a number alone would mean a column, and a call could be CUBE.
std::string QueryDeparser::sort_item(const BoundExpression& e) {
  std::string text = expression(e, true);
  if (!name_of(e).column.empty()) return text;
  if (auto* constant = try_as<ConstantExpression>(&e)) {
    std::string type = "::" + deparse_type(constant->type, constant->typmod, context_.types);
    return text.ends_with(type) ? text : text + type;
  }
  return context_.pretty || is_function(e) ? concat("(", text, ")") : text;
}

std::string QueryDeparser::aggregate(const AggregateExpression& e) {
  const BuiltinProcedure* procedure = find_procedure(e.procedure);
  std::string_view name = procedure == nullptr ? std::string_view("?") : procedure->name;
  std::string text = concat(quote_identifier(name), "(", e.distinct ? "DISTINCT " : "");
  if (e.star) text += "*";
  for (const BoundExpression* argument : e.arguments) {
    if (argument != e.arguments.front()) text += ", ";
    text += expression(*argument, true);
  }
  for (size_t i = 0; i < e.order_by.size(); ++i) {
    const BoundSortKey& key = e.order_by[i];
    text += (i == 0 ? " ORDER BY " : ", ") + sort_item(*key.expression);
    if (key.descending) text += " DESC";
    if (key.nulls_first != key.descending) text += key.nulls_first ? " NULLS FIRST" : " NULLS LAST";
  }
  if (e.filter != nullptr) text += concat(") FILTER (WHERE ", expression(*e.filter, false));
  return text + ")";
}

// What is compared with the subquery's rows, and how. The condition takes a comparison of rows
// apart; in that of the last column the operator is the one that was written.
std::string QueryDeparser::sublink_test(const SublinkExpression& e) {
  bool is_any = e.sublink_kind == SublinkKind::any;
  std::string left;
  std::string_view op = "?";
  for (int32_t parameter : e.row_parameters) {
    const CallExpression* comparison = find_comparison(*e.condition, [&](const BoundExpression& r) {
      auto* read = try_as<ExecutionParameterExpression>(&r);
      return read != nullptr && read->index == parameter;
    });
    if (comparison == nullptr) continue;
    if (!left.empty()) left += ", ";
    left += expression(*comparison->arguments[0], true);
    op = operator_name(*comparison);
  }
  if (e.row_parameters.size() > 1) left = concat("(", left, ")");
  if (is_any && op == "=") return concat(left, " IN ");
  return concat(left, " ", op, is_any ? " ANY " : " ALL ");
}

std::string QueryDeparser::sublink(const SublinkExpression& e) {
  std::string text = "(";
  bool is_enclosed = true;
  switch (e.sublink_kind) {
    case SublinkKind::exists:
      text += "EXISTS ";
      break;
    case SublinkKind::any:
    case SublinkKind::all:
      text += sublink_test(e);
      break;
    case SublinkKind::array:
      text = "ARRAY(";
      is_enclosed = false;
      break;
    case SublinkKind::scalar:
      is_enclosed = false;
      break;
  }
  if (is_enclosed) text += "(";
  return text + subquery(*e.query) + (is_enclosed ? "))" : ")");
}

std::string QueryDeparser::subquery(const BoundQuery& query) {
  std::string before = std::exchange(out_, {});
  add_query(query, {}, false);
  return std::exchange(out_, std::move(before));
}

// (a, b) = (SELECT ...), of which `parts` are what the binder made.
std::string QueryDeparser::row_comparison(ExpressionList parts, const BoundQuery& query) {
  std::string left;
  std::string_view op = "?";
  for (int32_t i = 0; i < query.visible_targets; ++i) {
    const CallExpression* comparison = nullptr;
    for (const BoundExpression* part : parts) {
      if (comparison != nullptr) break;
      comparison = find_comparison(*part, [&](const BoundExpression& right) {
        auto* column = column_of_row(right);
        return column != nullptr && column->column == i;
      });
    }
    if (comparison == nullptr) continue;
    left += (left.empty() ? "" : ", ") + expression(*comparison->arguments[0], true);
    op = operator_name(*comparison);
  }
  return concat("((", left, ") ", op, " (", subquery(query), "))");
}

// It is one such comparison and nothing else.
bool QueryDeparser::is_enclosed(const BoundExpression& e) {
  auto* parts = try_as<BooleanExpression>(&e);
  return parts != nullptr && parts->op != BooleanOperator::not_ &&
         begins_row(parts->arguments[0]) && row_end(parts->arguments, 0) == parts->arguments.size();
}

// AND or OR of what is part of such comparisons and other parts; empty: there are none.
std::string QueryDeparser::row_comparisons(const BooleanExpression& e) {
  if (e.op == BooleanOperator::not_ || !std::ranges::any_of(e.arguments, begins_row)) return {};
  std::string text;
  size_t groups = 0;
  for (size_t i = 0, end = 0; i < e.arguments.size(); i = end, ++groups) {
    if (i != 0) text += e.op == BooleanOperator::and_ ? " AND " : " OR ";
    const BoundExpression& first = *e.arguments[i];
    end = row_end(e.arguments, i);
    if (begins_row(&first)) {
      text += row_comparison(e.arguments.subspan(i, end - i), *compared_column(first)->query);
      continue;
    }
    bool alone = !context_.pretty || stands_alone(first, &e) || is_enclosed(first);
    std::string part = expression(first, false);
    text += alone ? part : concat("(", part, ")");
  }
  return groups == 1 || context_.pretty ? text : concat("(", text, ")");
}

}  // namespace pgsilo
