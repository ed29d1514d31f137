#include "planner/explain/deparse_query.h"

#include <algorithm>
#include <utility>

#include "base/byte_buffer.h"
#include "planner/binder/binding.h"
#include "planner/bound/query_tree.h"
#include "planner/explain/query_deparser.h"
#include "sql/ast/query.h"

namespace pgsilo {

namespace {

constexpr int query_margin = 1;  // of the clauses of a query

std::string_view operation_name(QuerySetOperation operation) {
  switch (operation) {
    case QuerySetOperation::union_:
      return "UNION ";
    case QuerySetOperation::intersect:
      return "INTERSECT ";
    case QuerySetOperation::except:
      return "EXCEPT ";
    case QuerySetOperation::none:
      break;
  }
  return {};
}

bool is_limited(const BoundQuery& query) {
  return query.limit_count != nullptr || query.limit_offset != nullptr;
}

// A side that is an operation of the same query.
bool is_operation(const BoundQuery& side) {
  return side.set_operation != QuerySetOperation::none && side.ctes.empty() &&
         side.order_by.empty() && !is_limited(side);
}

// GROUP BY (), where nothing else says that there is one group.
bool groups_all(const BoundQuery& query) {
  if (!query.is_grouped || !query.group_by.empty() || query.having != nullptr) return false;
  bool has_aggregate = false;
  for (const BoundTarget& target : query.targets) {
    walk_levels(*target.expression, 0, [&](const BoundExpression& e, int32_t depth) {
      auto* aggregate = try_as<AggregateExpression>(&e);
      has_aggregate |= aggregate != nullptr && aggregate->levels_up == depth;
      return !has_aggregate;
    });
  }
  return !has_aggregate;
}

std::string_view target_name(const BoundTarget& target, std::span<const std::string_view> names,
                             size_t number) {
  return number < names.size() ? names[number] : target.name;
}

}  // namespace

QueryDeparser::QueryDeparser(const DeparseContext& context, int wrap_column)
    : context_(context), wrap_column_(wrap_column) {
  context_.definition = true;
  context_.query = this;
}

void QueryDeparser::add_expression(const BoundExpression& e, bool show_implicit) {
  std::string text = expression(e, show_implicit);
  add(text);
}

std::string QueryDeparser::expression(const BoundExpression& e, bool show_implicit) {
  return deparse_part(context_, e, show_implicit);
}

void QueryDeparser::add_list(std::span<const std::string> names) {
  std::string list;
  for (const std::string& name : names) {
    if (!name.empty()) list += concat(list.empty() ? "(" : ", ", quote_identifier(name));
  }
  if (!list.empty()) add(concat(list, ")"));
}

void QueryDeparser::enter(const BoundQuery& query, bool marks_are_pushed) {
  // The rule of a view has two relations more.
  QueryNames::Taken taken{{"new", 0}, {"old", 0}};
  if (!levels_.empty()) taken = level().names.taken();
  levels_.push_back(std::make_unique<Level>(query, std::move(taken), marks_are_pushed));
}

void QueryDeparser::add_query(const BoundQuery& query, Names names, bool names_visible) {
  require_stack();
  int margin = lines.level();
  enter(query, std::exchange(pushes_marks_, false));
  add_with(query);
  if (query.set_operation != QuerySetOperation::none) {
    add_set_operation(query, names, names_visible);
  } else {
    add_select(query, names, names_visible);
  }
  add_order_by(query);
  add_limits(query);
  add_row_marks(query);
  levels_.pop_back();
  lines.set_level(margin);
}

void QueryDeparser::add_with(const BoundQuery& query) {
  if (query.ctes.empty()) return;
  lines.add(IndentedLines::clause);
  add(query.with_recursive ? " WITH RECURSIVE " : " WITH ");
  for (const BoundCte* cte : query.ctes) {
    if (cte != query.ctes.front()) add(", ");
    add(quote_identifier(cte->name));
    std::vector<std::string> names;
    names.reserve(static_cast<size_t>(cte->written_columns));
    for (const BoundColumn& column : cte->columns.first(static_cast<size_t>(cte->written_columns)))
      names.emplace_back(column.name);
    if (!names.empty()) add_list(names);
    add(" AS ");
    if (cte->mode == CteMode::materialized) add("MATERIALIZED ");
    if (cte->mode == CteMode::not_materialized) add("NOT MATERIALIZED ");
    add("(");
    add(lines.begin(""));
    add_query(*cte->query, {}, true);
    add(lines.begin(""));
    add(")");
  }
  lines.add(-IndentedLines::clause);
  add(lines.begin(""));
}

void QueryDeparser::add_select(const BoundQuery& query, Names names, bool names_visible) {
  lines.add(IndentedLines::clause);
  add(" ");
  if (is_plain_values(query, names)) return add_values(*query.relations[0]);
  add("SELECT");
  add_distinct(query);
  add_targets(query, names, names_visible);
  add_from(query);
  if (query.where != nullptr) {
    add(lines.begin_clause(" WHERE ", query_margin));
    add_expression(*query.where);
  }
  add_group_by(query);
  if (query.having != nullptr) {
    add(lines.begin_clause(" HAVING "));
    add_expression(*query.having);
  }
}

void QueryDeparser::add_distinct(const BoundQuery& query) {
  if (query.distinct) add(" DISTINCT");
  if (query.distinct_on.empty()) return;
  add(" DISTINCT ON (");
  for (size_t i = 0; i < query.distinct_on.size(); ++i) {
    if (i != 0) add(", ");
    add(sort_item(*query.targets[query.distinct_on[i]].expression));
  }
  add(")");
}

// Where the text is a column's, that is its name already.
std::string QueryDeparser::target_text(const BoundTarget& target, std::string_view name,
                                       bool names_visible) {
  ShownName column = name_of(*target.expression);
  std::string text = expression(*target.expression, true);
  std::string_view own = column.column;
  if (own.empty() && !names_visible) own = "?column?";
  return name.empty() || own == name ? text : concat(text, " AS ", quote_identifier(name));
}

void QueryDeparser::add_targets(const BoundQuery& query, Names names, bool names_visible) {
  bool was_broken = false;
  for (size_t i = 0; i < static_cast<size_t>(query.visible_targets); ++i) {
    const BoundTarget& target = query.targets[i];
    add(i == 0 ? " " : ", ");
    std::string field = target_text(target, target_name(target, names, i), names_visible);
    if (i != 0 && was_broken && wrap_column_ >= 0 && field[0] != IndentedLines::break_mark)
      add(lines.begin_clause("", IndentedLines::step));
    add_wrapped(field, i != 0 && !was_broken);
    was_broken = field.find(IndentedLines::break_mark, 1) != field.npos;
  }
}

void QueryDeparser::add_wrapped(const std::string& part, bool may_break) {
  bool begins_line = part[0] == IndentedLines::break_mark;
  // PostgreSQL leaves the blank on the line before.
  if (wrap_column_ < 0 && begins_line) return add("\n" + part.substr(1));
  if (wrap_column_ >= 0 && may_break && !begins_line) {
    size_t line = out_.rfind(IndentedLines::break_mark);
    size_t length = out_.size() - (line == out_.npos ? 0 : line + 1);
    if (length + part.size() > static_cast<size_t>(wrap_column_))
      add(lines.begin_clause("", IndentedLines::step));
  }
  add(part);
}

void QueryDeparser::add_group_by(const BoundQuery& query) {
  if (groups_all(query)) add(lines.begin_clause(" GROUP BY ()", query_margin));
  for (const BoundExpression* key : query.group_by) {
    add(key == query.group_by.front() ? lines.begin_clause(" GROUP BY ", query_margin) : ", ");
    add(sort_item(*key));
  }
}

void QueryDeparser::add_order_by(const BoundQuery& query) {
  for (size_t i = 0; i < query.order_by.size(); ++i) {
    const QuerySortKey& key = query.order_by[i];
    add(i == 0 ? lines.begin_clause(" ORDER BY ", query_margin) : ", ");
    if (query.set_operation != QuerySetOperation::none) {
      add(concat(key.target + 1));
    } else {
      add(sort_item(*query.targets[key.target].expression));
    }
    if (key.descending) add(" DESC");
    if (key.nulls_first != key.descending) add(key.nulls_first ? " NULLS FIRST" : " NULLS LAST");
  }
}

void QueryDeparser::add_limits(const BoundQuery& query) {
  if (query.limit_offset != nullptr) {
    add(lines.begin_clause(" OFFSET "));
    add_expression(*query.limit_offset);
  }
  if (query.limit_count == nullptr) return;
  if (query.with_ties) {
    add(lines.begin_clause(" FETCH FIRST ("));
    add_expression(*query.limit_count);
    return add(") ROWS WITH TIES");
  }
  add(lines.begin_clause(" LIMIT "));
  auto* constant = try_as<ConstantExpression>(query.limit_count);
  if (constant != nullptr && constant->value.null) {
    add("ALL");
  } else {
    add_expression(*query.limit_count);
  }
}

void QueryDeparser::add_row_marks(const BoundQuery& query) {
  if (level().marks_are_pushed) return;
  for (const BoundRowMark& mark : query.row_marks) {
    add(lines.begin_clause(concat(" ", ast::lock_clause_name(mark.strength))));
    add(concat(" OF ", quote_identifier(level().names.alias(mark.relation))));
    if (mark.wait == ast::LockWait::nowait) add(" NOWAIT");
    if (mark.wait == ast::LockWait::skip_locked) add(" SKIP LOCKED");
  }
}

// Behind the WITH of the query that has it; sides that are operations as well are of that query.
void QueryDeparser::add_set_operation(const BoundQuery& query, Names names, bool names_visible) {
  require_stack();
  add_left_side(query, names, names_visible);
  add(operation_name(query.set_operation));
  if (query.set_all) add("ALL ");
  add_right_side(query, names);
}

void QueryDeparser::add_left_side(const BoundQuery& query, Names names, bool names_visible) {
  const BoundQuery& left = *query.left;
  bool in_parentheses = is_operation(left) && (left.set_operation != query.set_operation ||
                                               left.set_all != query.set_all);
  int indent = in_parentheses ? IndentedLines::clause : 0;
  if (in_parentheses) add("(" + lines.begin("", indent, 0, 0));
  add_side(left, names, names_visible);
  add(lines.begin(in_parentheses ? ") " : "", -indent, 0, 0));
}

void QueryDeparser::add_right_side(const BoundQuery& query, Names names) {
  bool in_parentheses = is_operation(*query.right);
  int indent = in_parentheses ? IndentedLines::clause : 0;
  if (in_parentheses) add("(");
  add(lines.begin("", indent, 0, 0));
  add_side(*query.right, names, false);
  lines.add(-indent);
  if (in_parentheses) add(lines.begin(")", 0, 0, 0));
}

void QueryDeparser::add_side(const BoundQuery& side, Names names, bool names_visible) {
  if (is_operation(side)) {
    enter(side, false);
    add_set_operation(side, names, names_visible);
    levels_.pop_back();
    return;
  }
  bool in_parentheses =
      !side.ctes.empty() || !side.order_by.empty() || is_limited(side) || !side.row_marks.empty();
  if (in_parentheses) add("(");
  add_query(side, names, names_visible);
  if (in_parentheses) add(")");
}

// VALUES by itself is a query of its rows, whose columns have the names it gives them.
bool QueryDeparser::is_plain_values(const BoundQuery& query, Names names) const {
  if (query.relations.size() != 1 || query.relations[0]->kind != RangeKind::values) return false;
  std::span<const BoundColumn> columns = query.relations[0]->columns;
  if (query.targets.size() != columns.size()) return false;
  for (size_t i = 0; i < columns.size(); ++i) {
    const BoundTarget& target = query.targets[i];
    if (target.is_junk || target_name(target, names, i) != columns[i].name) return false;
  }
  return true;
}

void QueryDeparser::add_values(const BoundRelation& values) {
  for (size_t r = 0; r < values.rows.size(); ++r) {
    add(r == 0 ? "VALUES (" : ", (");
    for (size_t i = 0; i < values.rows[r].size(); ++i) {
      if (i != 0) add(",");
      add_expression(*values.rows[r][i]);
    }
    add(")");
  }
}

std::string deparse_query(const DeparseContext& context, const BoundQuery& query,
                          std::span<const std::string_view> column_names, int wrap_column) {
  QueryDeparser deparser(context, wrap_column);
  deparser.add_query(query, column_names, true);
  return deparser.take() + ";";
}

}  // namespace pgsilo
