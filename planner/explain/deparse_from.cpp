// FROM of a query that is shown.
#include <algorithm>

#include "base/byte_buffer.h"
#include "catalog/builtin/builtin.h"
#include "catalog/descriptors.h"
#include "planner/bound/query_tree.h"
#include "planner/explain/deparse_constant.h"
#include "planner/explain/query_deparser.h"
#include "sql/types/type_context.h"

namespace pgsilo {

namespace {

constexpr int from_margin = 2;
constexpr Oid unnest_array_procedure = 2331;

// Of a function: whether it reads what stands left of it. Nothing else says so.
bool reads_left(const BoundRelation& relation) {
  bool found = false;
  for (const BoundExpression* call : relation.calls) {
    walk_levels(*call, 0, [&](const BoundExpression& e, int32_t depth) {
      auto* column = try_as<ColumnExpression>(&e);
      found |= column != nullptr && column->levels_up == depth;
      return !found;
    });
  }
  return found;
}

bool is_lateral(const BoundRelation& relation) {
  return relation.kind == RangeKind::function ? reads_left(relation)
                                              : relation.lateral && relation.view == nullptr;
}

bool are_all_unnest(const BoundRelation& relation) {
  return std::ranges::all_of(relation.calls, [](const BoundExpression* e) {
    auto* call = try_as<CallExpression>(e);
    return call != nullptr && call->procedure == unnest_array_procedure;
  });
}

bool looks_like_function(const BoundExpression& e) {
  switch (e.kind) {
    case ExpressionKind::call: {
      CallForm form = as<CallExpression>(&e)->form;
      return form == CallForm::function || form == CallForm::sql_syntax;
    }
    case ExpressionKind::coalesce:
    case ExpressionKind::min_max:
    case ExpressionKind::null_if:
    case ExpressionKind::sql_value:
      return true;
    default:
      return false;
  }
}

std::string_view join_name(const FromItem& join) {
  switch (join.join_type) {
    case JoinType::left:
      return " LEFT JOIN ";
    case JoinType::full:
      return " FULL JOIN ";
    case JoinType::right:
      return " RIGHT JOIN ";
    default:
      return join.condition != nullptr ? " JOIN " : " CROSS JOIN ";
  }
}

}  // namespace

void QueryDeparser::add_from(const BoundQuery& query) {
  for (size_t i = 0; i < query.from.size(); ++i) {
    ShownItem& item = level().names.shape(i);
    if (i == 0) {
      add(lines.begin_clause(" FROM ", from_margin));
      add_from_item(item);
      continue;
    }
    add(", ");
    // Whether it needs a line of its own is known when it is there.
    std::string before = std::move(out_);
    out_.clear();
    add_from_item(item);
    std::string part = std::move(out_);
    out_ = std::move(before);
    add_wrapped(part, true);
  }
}

void QueryDeparser::add_from_item(ShownItem& item) {
  if (item.relation != nullptr) {
    add_relation(item);
  } else {
    add_join(item);
  }
}

void QueryDeparser::add_relation(const ShownItem& item) {
  if (is_lateral(*item.relation)) add("LATERAL ");
  add_relation_itself(item);
  if (shows_alias(item)) add(" " + quote_identifier(item.alias));
  if (item.prints_columns) add_list(item.names);
}

void QueryDeparser::add_relation_itself(const ShownItem& item) {
  const BoundRelation& relation = *item.relation;
  if (item.table() != nullptr) return add(table_name(*item.table()));
  switch (relation.kind) {
    case RangeKind::table:
      break;
    case RangeKind::subquery: {
      auto is_marked = [&](const BoundRowMark& mark) {
        return level().query->relations[mark.relation] == &relation;
      };
      bool pushes = std::ranges::any_of(level().query->row_marks, is_marked);
      add("(");
      pushes_marks_ = pushes || level().marks_are_pushed;
      add_query(*relation.query, {}, true);
      return add(")");
    }
    case RangeKind::function:
      return add_function(relation);
    case RangeKind::values:
      add("(");
      add_values(relation);
      return add(")");
    case RangeKind::cte:
    case RangeKind::work_table:
      return add(quote_identifier(relation.cte->name));
  }
}

std::string QueryDeparser::call_text(const BoundExpression& call) {
  std::string text = expression(call, true);
  if (looks_like_function(call)) return text;
  return concat("CAST(", text, " AS ", deparse_type(call.type, call.typmod, context_.types), ")");
}

void QueryDeparser::add_function(const BoundRelation& relation) {
  std::string calls;
  bool is_unnest = relation.calls.size() > 1 && are_all_unnest(relation);
  for (const BoundExpression* call : relation.calls) {
    if (!calls.empty()) calls += ", ";
    calls +=
        is_unnest ? expression(*as<CallExpression>(call)->arguments[0], true) : call_text(*call);
  }
  if (relation.calls.size() == 1) {
    add(calls);
  } else {
    add(concat(is_unnest ? "UNNEST(" : "ROWS FROM(", calls, ")"));
  }
  if (relation.with_ordinality) add(" WITH ORDINALITY");
}

// Also where it is written nowhere: it is another than the name, or the grammar wants it.
bool QueryDeparser::shows_alias(const ShownItem& item) const {
  const BoundRelation& relation = *item.relation;
  if (relation.alias_is_written || item.prints_columns) return true;
  if (item.table() != nullptr) return item.alias != item.table()->name;
  if (relation.cte != nullptr) return item.alias != relation.cte->name;
  return relation.kind == RangeKind::function || relation.kind == RangeKind::values;
}

// A WITH query hides a table that has its name.
std::string QueryDeparser::table_name(const TableDescriptor& table) const {
  bool is_hidden = std::ranges::any_of(levels_, [&](const auto& level) {
    return std::ranges::any_of(level->query->ctes,
                               [&](const BoundCte* cte) { return cte->name == table.name; });
  });
  ByteBuffer name;
  ObjectNames* names = context_.types->object_names;
  if (!is_hidden && names != nullptr && names->print(type_oid::regclass, table.oid, name))
    return std::string(name.view());
  return concat(quote_identifier(table.schema_name), ".", quote_identifier(table.name));
}

void QueryDeparser::add_join(ShownItem& item) {
  const FromItem& join = *item.item;
  bool in_parentheses = !context_.pretty || !item.alias.empty();
  bool right_in_parentheses =
      context_.pretty && item.right->relation == nullptr && item.right->alias.empty();
  if (in_parentheses) add("(");
  item.is_open = true;
  add_from_item(*item.left);
  add(lines.begin_clause(join_name(join), IndentedLines::step));
  if (right_in_parentheses) add("(");
  add_from_item(*item.right);
  if (right_in_parentheses) add(")");
  add_join_condition(item);
  item.is_open = false;
  if (in_parentheses) add(")");
  if (item.alias.empty()) return;
  add(" " + quote_identifier(item.alias));
  if (item.prints_columns) add_list(item.names);
}

void QueryDeparser::add_join_condition(const ShownItem& item) {
  const FromItem& join = *item.item;
  if (join.using_columns > 0) {
    add(" USING ");
    add_list(item.merged);
    if (!join.using_alias.empty()) add(" AS " + quote_identifier(join.using_alias));
  } else if (join.condition != nullptr) {
    add(context_.pretty ? " ON " : " ON (");
    add_expression(*join.condition);
    if (!context_.pretty) add(")");
  } else if (join.join_type != JoinType::inner) {
    add(" ON TRUE");
  }
}

}  // namespace pgsilo
