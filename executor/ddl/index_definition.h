// Expressions and predicates of indexes out of the syntax tree. Thread safety: none; one
// definition.
#pragma once

#include <string>
#include <vector>

#include "executor/ddl/table_definition.h"

namespace pgsilo {

class IndexBinder {
 public:
  // `shape` is what names mean; it outlives the binder.
  IndexBinder(DdlRun& run, const TableShape& shape);

  // A column's expression: one of the table's columns (in parentheses, its name is set), or what
  // is computed. 42P17 if that rests on more than the row.
  void define(const ast::Node& expression, IndexColumnDefinition* column);
  // Of WHERE; empty for null.
  StoredExpression predicate(const ast::Node* where);
  // Names of those that all of these read.
  std::vector<std::string> read_columns() const;

 private:
  StoredExpression store(const BoundExpression& expression, std::string_view what);

  DdlRun& run_;
  const TableShape& shape_;
  Scope scope_;
  std::vector<bool> read_;  // by column
};

}  // namespace pgsilo
