// Views and how PostgreSQL shows them, over the tables of deparse_query_test.
#pragma once

#include <string_view>

namespace pgsilo::testing {

struct ViewDefinition {
  std::string_view sql;
  std::string_view columns;  // the view's own names for them; empty: the query's
  std::string_view shown;    // pg_get_viewdef(oid)
  std::string_view pretty;   // pg_get_viewdef(oid, true); empty: the same
};

}  // namespace pgsilo::testing
