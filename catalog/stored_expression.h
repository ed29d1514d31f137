// An expression as the catalog keeps it (pg_attrdef.adbin, pg_constraint.conbin,
// pg_index.indexprs and indpred): a tree by OIDs and column numbers, behind what it rests on
// (docs/stored_expressions.md). What the tree says only the planner knows
// (planner/stored/stored_tree.h). Thread safety: values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/sql_error.h"
#include "sql/types/type_oid.h"

namespace pgsilo {

// What a user made and an expression names. Each once, in the order of their OIDs.
struct ExpressionUses {
  std::vector<Oid> types;  // by the type itself, where arrays of it are used too
  std::vector<Oid> sequences;
  bool operator==(const ExpressionUses&) const = default;
  void add(const ExpressionUses& other);
};

struct StoredExpression {
  std::string text;  // as it is in the row; empty: there is none
  ExpressionUses uses;

  static StoredExpression make(ExpressionUses uses, std::string_view tree);
  // Out of a row. XX001 if it is damaged.
  static StoredExpression read(std::string_view text);

  // Several, one behind the other: pg_index.indexprs.
  static std::vector<StoredExpression> read_list(std::string_view text);

  bool empty() const { return text.empty(); }
  // Databases of catalog versions before 14 have SQL, until their start is done.
  bool is_sql() const { return !empty() && text[0] != '{'; }
  std::string_view tree() const;
  bool operator==(const StoredExpression&) const = default;
};

// XX001.
SqlError damaged_expression();

}  // namespace pgsilo
