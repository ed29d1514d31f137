// Bound trees to the text that the catalog keeps (docs/stored_expressions.md). Internal to
// planner/stored/. Thread safety: none; one tree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalog/stored_expression.h"
#include "catalog/stored_query.h"
#include "planner/bound/query.h"
#include "planner/stored/stored_fields.h"

namespace pgsilo {

class CatalogView;

class TreeWriter {
 public:
  explicit TreeWriter(const CatalogView& catalog) : catalog_(catalog) {}

  // Null is written as well.
  void child(const BoundExpression* expression);
  void query(const BoundQuery& query);

  // What stored_fields.h asks for.
  void list(ExpressionList expressions) {
    for (const BoundExpression* expression : expressions) child(expression);
  }
  void oid(Oid oid) { number(oid); }
  void flag(bool value) { item(value ? "t" : "f"); }
  template <typename E>
  void word(E value, stored::Words words) {
    item(words[static_cast<size_t>(value)]);
  }
  void number(int64_t value);
  // Of users: bytes that mean something here are %20.
  void name(std::string_view name);
  void sort_keys(std::span<const BoundSortKey> keys);

  StoredExpression finish_expression() { return StoredExpression::make(std::move(uses_), text_); }
  StoredQuery finish_query();

 private:
  void item(std::string_view text);
  void begin(std::string_view kind) {
    item("(");
    item(kind);
  }
  void begin(std::string_view kind, const BoundExpression& node);
  void end() { text_ += ')'; }

  // --- write_tree.cpp: expressions ---
  void column(const BoundExpression& node, int32_t index);
  void constant(const ConstantExpression& node);
  void bytes(std::string_view value);
  void note_relation(const ConstantExpression& node);
  void case_when(const CaseExpression& node);
  void stand_in(const ExecutionParameterExpression& node);

  // --- write_query.cpp: queries and what occurs in them only ---
  void variable(const ColumnExpression& node);
  void sublink(const SublinkExpression& node);
  // Of a sublink's condition: a column of its query's row. False: it is none.
  bool row_value(const ExecutionParameterExpression& node);
  void with_queries(const BoundQuery& query);
  void relation(const BoundRelation& relation);
  void columns(std::span<const BoundColumn> columns);
  void alias(const BoundRelation& relation);
  void shape(const FromItem& item);
  void targets(const BoundQuery& query);
  void group_keys(const BoundQuery& query);
  void order(const BoundQuery& query);
  void set_operation(const BoundQuery& query);
  void row_marks(const BoundQuery& query);
  void use_relation(Oid relation, int16_t column = 0);

  const CatalogView& catalog_;
  std::string text_;
  ExpressionUses uses_;
  bool rests_on_columns_ = true;
  std::vector<ColumnUse> relations_;            // that a query names
  std::vector<int32_t> stand_ins_;              // of the CASEs whose conditions are being written
  std::vector<std::span<const int32_t>> rows_;  // of the sublinks whose conditions are
  std::vector<const BoundQuery*> open_;         // the query being written, and those around it
};

}  // namespace pgsilo
