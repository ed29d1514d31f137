// A view's query as the catalog keeps it (pg_rewrite.ev_action): a tree by OIDs and column numbers,
// and what it rests on, which is kept in pg_depend. What the tree says only the planner knows
// (planner/stored/stored_tree.h). Thread safety: values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql/types/type_oid.h"

namespace pgsilo {

// A relation that a query names, or a column of it.
struct ColumnUse {
  Oid relation = invalid_oid;
  int16_t column = 0;  // number; 0: the relation as a whole
  auto operator<=>(const ColumnUse&) const = default;
};

struct StoredQuery {
  std::string text;  // as it is in the row
  // Each once, in order; a relation as a whole only where no column of it is named.
  std::vector<ColumnUse> columns;
  std::vector<Oid> types;        // that users made
  std::vector<Oid> constraints;  // primary keys by which it groups

  void rest_on_keys(std::vector<Oid> keys);

  static StoredQuery make(std::string_view tree, std::vector<ColumnUse> columns,
                          std::vector<Oid> types);
};

// The tree out of a row. XX001 if it is damaged.
std::string_view tree_of_query(std::string_view text);

}  // namespace pgsilo
