// The text of a tree back into nodes. Internal to planner/stored/. Thread safety: none; one tree.
#pragma once

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "catalog/stored_expression.h"
#include "planner/binder/binding.h"
#include "planner/bound/make_expression.h"
#include "planner/bound/query.h"
#include "planner/stored/stored_fields.h"
#include "planner/stored/stored_tree.h"

namespace pgsilo {

class TreeReader {
 public:
  TreeReader(StatementBinding& binding, std::string_view text, ColumnMaker column)
      : binding_(binding), text_(text), column_(column) {}

  const BoundExpression* read_expression();
  const BoundQuery* read_query();

  // What stored_fields.h asks for.
  void child(const BoundExpression*& to);
  void child(const CallExpression*& to);
  void list(ExpressionList& to);
  void oid(Oid& to) { to = number<Oid>(); }
  void flag(bool& to);
  template <typename E>
  void word(E& to, stored::Words words) {
    auto found = std::ranges::find(words, item());
    if (found == words.end()) throw damaged_expression();
    to = static_cast<E>(found - words.begin());
  }
  void number(int32_t& to) { to = number<int32_t>(); }
  void sort_keys(std::span<const BoundSortKey>& to);

 private:
  bool take(std::string_view sign);
  // The parts of a tree: "(kind", parts, ")".
  void begin(std::string_view kind);
  bool at_end() const { return text_.starts_with(')'); }
  void end();
  std::string_view item();
  template <typename T>
  T number() {
    return number_of<T>(item());
  }
  template <typename T>
  static T number_of(std::string_view text) {
    T value;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) throw damaged_expression();
    return value;
  }
  // From 0 to below `size`.
  size_t index(size_t size);
  bool flag();
  std::string_view name();
  const BoundExpression* needed();

  // --- read_tree.cpp: expressions ---
  const BoundExpression* node(std::string_view kind, Oid type, int32_t typmod);
  template <typename N>
  N* make(Oid type, int32_t typmod) {
    N* node = make_expression<N>(binding_.arena, type);
    node->typmod = typmod;
    return node;
  }
  template <typename N>
  void complete(N& node);
  void complete_call(CallExpression& node);
  const BoundExpression* constant(Oid type, int32_t typmod);
  std::string_view bytes(std::string_view digits);
  const BoundExpression* case_when(Oid type, int32_t typmod);
  const BoundExpression* stand_in(Oid type, int32_t typmod);

  // --- read_query.cpp: queries and what occurs in them only ---
  // A query being read, with what its columns may refer to so far.
  struct OpenQuery {
    std::vector<const BoundRelation*> relations;
    std::vector<BoundCte*> ctes;
    bool is_set_operation = false;
    std::vector<Oid> types;  // of a set operation's columns, or of the side's that is read
  };
  const BoundQuery* query();
  OpenQuery& open(size_t levels_up);
  std::span<BoundCte* const> with_queries(BoundQuery& query);
  void with_query();
  const BoundRelation* relation();
  void named_relation(BoundRelation& relation, std::span<const std::string_view> names);
  void relation_body(BoundRelation& relation);
  void cte_reference(BoundRelation& relation);
  void functions(BoundRelation& relation);
  const BoundExpression* set_call();
  std::span<const BoundColumn> columns();
  const FromItem* shape();
  void set_operation(BoundQuery& query);
  void targets(BoundQuery& query);
  std::vector<int32_t> target_numbers(const BoundQuery& query);
  void order(BoundQuery& query);
  void row_marks(BoundQuery& query);
  const BoundExpression* variable(Oid type, int32_t typmod);
  const BoundExpression* sublink(Oid type, int32_t typmod);
  const BoundExpression* row_value(Oid type, int32_t typmod);

  StatementBinding& binding_;
  std::string_view text_;
  ColumnMaker column_;
  int depth_ = 0;
  int set_depth_ = 0;                             // of the call that may return a set
  std::vector<const CaseExpression*> stand_ins_;  // of the CASEs whose conditions are being read
  std::vector<std::span<const int32_t>> rows_;    // of the sublinks whose conditions are
  bool reads_dropped_ = false;                    // what was read last has a column that is gone
  std::vector<OpenQuery*> open_;                  // the query being read, and those around it
};

}  // namespace pgsilo
