// Puts a query's text together, clause by clause. PostgreSQL's rules for lines and parentheses
// depend on what was written before, so there is one text that grows.
// Thread safety: none; one per text.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/explain/deparse_query.h"
#include "planner/explain/query_names.h"

namespace pgsilo {

class QueryDeparser final : public QueryTexts {
 public:
  using Names = std::span<const std::string_view>;

  QueryDeparser(const DeparseContext& context, int wrap_column);

  // `names`: of its columns, where they are not those of its targets. Unless `names_visible`,
  // nobody sees a column's name that is none.
  void add_query(const BoundQuery& query, Names names, bool names_visible);
  std::string text(const BoundExpression& e) override;
  bool is_enclosed(const BoundExpression& e) override;
  std::string take() { return IndentedLines::finish(out_); }

 private:
  // A query that is being shown, inside of the one before.
  struct Level {
    Level(const BoundQuery& shown, QueryNames::Taken taken, bool marks)
        : query(&shown), names(shown, std::move(taken)), marks_are_pushed(marks) {}
    const BoundQuery* query;
    QueryNames names;
    bool marks_are_pushed;  // its row marks are those of the query around it
  };

  void add(std::string_view text) { out_ += text; }
  void add_expression(const BoundExpression& e, bool show_implicit = false);
  void add_list(std::span<const std::string> names);
  std::string expression(const BoundExpression& e, bool show_implicit);
  void enter(const BoundQuery& query, bool marks_are_pushed);
  Level& level() { return *levels_.back(); }

  // deparse_query.cpp
  void add_with(const BoundQuery& query);
  void add_select(const BoundQuery& query, Names names, bool names_visible);
  void add_distinct(const BoundQuery& query);
  void add_targets(const BoundQuery& query, Names names, bool names_visible);
  std::string target_text(const BoundTarget& target, std::string_view name, bool names_visible);
  void add_group_by(const BoundQuery& query);
  void add_order_by(const BoundQuery& query);
  void add_limits(const BoundQuery& query);
  void add_row_marks(const BoundQuery& query);
  void add_set_operation(const BoundQuery& query, Names names, bool names_visible);
  void add_side(const BoundQuery& side, Names names, bool names_visible);
  void add_left_side(const BoundQuery& query, Names names, bool names_visible);
  void add_right_side(const BoundQuery& query, Names names);
  bool is_plain_values(const BoundQuery& query, Names names) const;
  void add_values(const BoundRelation& values);
  // Behind what is there, or on a line of its own where it makes the line too long.
  void add_wrapped(const std::string& part, bool may_break);

  // deparse_from.cpp
  void add_from(const BoundQuery& query);
  void add_from_item(ShownItem& item);
  void add_relation(const ShownItem& item);
  void add_relation_itself(const ShownItem& item);
  void add_function(const BoundRelation& relation);
  void add_join(ShownItem& item);
  void add_join_condition(const ShownItem& item);
  bool shows_alias(const ShownItem& item) const;
  std::string table_name(const TableDescriptor& table) const;
  std::string call_text(const BoundExpression& call);

  // deparse_query_expression.cpp
  ShownName name_of(const BoundExpression& e) const;
  std::string column_text(const ShownName& name) const;
  std::string sort_item(const BoundExpression& e);
  std::string aggregate(const AggregateExpression& e);
  std::string sublink(const SublinkExpression& e);
  std::string sublink_test(const SublinkExpression& e);
  std::string subquery(const BoundQuery& query);
  std::string row_comparison(ExpressionList parts, const BoundQuery& query);
  std::string row_comparisons(const BooleanExpression& e);

  DeparseContext context_;
  int wrap_column_;
  std::string out_;
  std::vector<std::unique_ptr<Level>> levels_;
  bool pushes_marks_ = false;
};

}  // namespace pgsilo
