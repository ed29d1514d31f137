// What new rows must fulfil. Thread safety: values.
#pragma once

#include <cstdint>
#include <string_view>

#include "planner/bound/expression.h"

namespace pgsilo {

// Of a table (CHECK), or of a view (WITH CHECK OPTION).
enum class CheckKind : uint8_t { table, view };

struct CheckConstraint {
  std::string_view name;  // the constraint's, or the view's
  // Over the new row. A table's is violated if it is false, a view's if it is not true.
  const BoundExpression* condition = nullptr;
  CheckKind kind = CheckKind::table;
};

}  // namespace pgsilo
