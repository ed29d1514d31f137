// The catalog's own views (builtin/system_views.def): their rows in pg_class and pg_attribute are
// written when a database is made, their definitions are read from here. Thread safety: constant
// data.
#pragma once

#include <span>
#include <string_view>

#include "sql/types/type_oid.h"

namespace pgsilo {

struct SystemViewColumn {
  Oid view_schema;
  std::string_view view;
  std::string_view name;
  Oid type;
};

struct SystemView {
  Oid oid;
  Oid schema;
  std::string_view name;
  Oid row_type;
  Oid array_type;
  std::string_view definition;  // a SELECT whose result are the columns, in their order
};

std::span<const SystemView> all_system_views();
// Null when there is none.
const SystemView* find_system_view(Oid oid);
std::span<const SystemViewColumn> columns_of(const SystemView& view);

}  // namespace pgsilo
