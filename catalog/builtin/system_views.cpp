#include "catalog/builtin/system_views.h"

#include <algorithm>
#include <iterator>

#include "catalog/system_tables.h"

namespace pgsilo {
namespace {

constexpr SystemView views[] = {
#define SYSTEM_VIEW(oid, schema, name, row_type, array_type, definition) \
  {oid, system_oid::schema_##schema, #name, row_type, array_type, definition},
#define SYSTEM_VIEW_COLUMN(schema, view, name, type)
#include "catalog/builtin/system_views.def"
#undef SYSTEM_VIEW
#undef SYSTEM_VIEW_COLUMN
};

constexpr SystemViewColumn columns[] = {
#define SYSTEM_VIEW(oid, schema, name, row_type, array_type, definition)
#define SYSTEM_VIEW_COLUMN(schema, view, name, type) \
  {system_oid::schema_##schema, #view, #name, type},
#include "catalog/builtin/system_views.def"
#undef SYSTEM_VIEW
#undef SYSTEM_VIEW_COLUMN
};

// They follow each other.
constexpr std::span<const SystemViewColumn> find_columns(const SystemView& view) {
  auto is_of_view = [&view](const SystemViewColumn& column) {
    return column.view_schema == view.schema && column.view == view.name;
  };
  const SystemViewColumn* first = std::find_if(std::begin(columns), std::end(columns), is_of_view);
  return {first, std::find_if_not(first, std::end(columns), is_of_view)};
}

constexpr size_t count_found_columns() {
  size_t count = 0;
  for (const SystemView& view : views) count += find_columns(view).size();
  return count;
}
static_assert(count_found_columns() == std::size(columns), "a column of no view");

}  // namespace

std::span<const SystemView> all_system_views() { return views; }

const SystemView* find_system_view(Oid oid) {
  for (const SystemView& view : views) {
    if (view.oid == oid) return &view;
  }
  return nullptr;
}

std::span<const SystemViewColumn> columns_of(const SystemView& view) { return find_columns(view); }

}  // namespace pgsilo
