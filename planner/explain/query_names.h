// The names that the relations and columns of a query are shown by, as PostgreSQL chooses them:
// each different from those of the queries around it, and as few changed as that allows.
// Thread safety: none; one per query that is being shown.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "planner/bound/query.h"

namespace pgsilo {

// A relation of FROM, or a join of two, with the names it has.
struct ShownItem {
  // Of a join: which columns of its sides it is.
  struct Column {
    int32_t left = -1;
    int32_t right = -1;  // both: they are merged
    // What it was called when the query was bound; empty: it was dropped.
    std::string_view name;
    const BoundExpression* value = nullptr;  // merged ones
    bool is_renamed = false;                 // by the join's alias
  };

  const FromItem* item = nullptr;
  const BoundRelation* relation = nullptr;  // null: a join
  ShownItem* left = nullptr;
  ShownItem* right = nullptr;
  std::vector<Column> columns;
  std::string alias;                // empty: a join without
  std::vector<std::string> names;   // of its columns; empty: dropped
  std::vector<std::string> merged;  // of them, those that USING names
  std::vector<std::string> merged_above;
  bool prints_columns = false;  // a list of all names stands behind the alias
  // Being printed: what is inside sees its parts, not its alias.
  bool is_open = false;

  // Table or view: its columns have names that are not this query's.
  const TableDescriptor* table() const {
    return relation->table != nullptr ? relation->table : relation->view;
  }
  bool is_named_join() const { return relation == nullptr && !alias.empty(); }
};

struct ShownName {
  std::string_view relation;  // empty: none
  std::string_view column;    // empty: the expression is no column
};

class QueryNames {
 public:
  using Taken = std::map<std::string, int, std::less<>>;

  // `taken`: names of relations of the queries around it.
  QueryNames(const BoundQuery& query, Taken taken);

  // Of what stands `levels` queries further in.
  ShownName find(const BoundExpression& e, int32_t levels) const;
  ShownItem& shape(size_t number) { return *shapes_[number]; }
  std::string_view alias(int32_t relation) const { return relations_[relation]->alias; }
  // With those around it.
  const Taken& taken() const { return taken_; }

 private:
  ShownItem* add(const FromItem& item);
  void add_columns(ShownItem& leaf);
  void join_columns(ShownItem& join);
  int32_t find_column(const ShownItem& item, const BoundExpression* e) const;
  void name_relation(ShownItem& item, std::string_view name);
  void name_merged(ShownItem& item, const std::vector<std::string>& above);
  void push_names(ShownItem& join, size_t column);
  void name_columns(ShownItem& leaf);
  void name_join_columns(ShownItem& join);
  std::string make_unique(const ShownItem& item, std::string_view name) const;
  bool is_column(const ShownItem& item, size_t column, const BoundExpression& e,
                 int32_t levels) const;
  int32_t relation_column(const ShownItem& item, const BoundExpression& e, int32_t levels) const;
  bool is_value(const BoundExpression* value, const BoundExpression& e, int32_t levels) const;
  ShownName find(const ShownItem& item, const BoundExpression& e, int32_t levels) const;

  Taken taken_;
  std::vector<std::unique_ptr<ShownItem>> items_;  // sides before their join
  std::vector<ShownItem*> shapes_;                 // FROM
  std::vector<ShownItem*> relations_;              // by number; null: not in FROM
  // Of merged columns, where each must be told from all others of the query.
  std::vector<std::string> merged_;
  bool merged_are_unique_ = false;
  mutable Arena memory_;
};

}  // namespace pgsilo
