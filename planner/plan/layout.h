// What the slots of an operator's row hold, in terms of the query's expressions.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/bound/expression.h"

namespace pgsilo {

// The column number that stands for a table row's handle.
inline constexpr int32_t row_handle_column = -1;

class Layout {
 public:
  void add(const BoundExpression* expression);
  void append(const Layout& other);
  // The slot that holds the expression, this very one before one that is equal; -1: none.
  int32_t find(const BoundExpression& expression) const;
  int32_t find_column(int32_t relation, int32_t column) const;
  int32_t find_row_handle(int32_t relation) const {
    return find_column(relation, row_handle_column);
  }
  int32_t size() const { return static_cast<int32_t>(slots_.size()); }
  const BoundExpression* slot(int32_t i) const { return slots_[i]; }

 private:
  std::vector<const BoundExpression*> slots_;
  bool columns_only_ = true;
};

}  // namespace pgsilo
