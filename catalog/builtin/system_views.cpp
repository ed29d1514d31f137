#include "catalog/builtin/system_views.h"

namespace pgsilo {
namespace {

constexpr SystemView views[] = {
#define SYSTEM_VIEW(oid, schema, name, row_type, array_type, definition) \
  {oid, schema, #name, row_type, array_type, definition},
#define SYSTEM_VIEW_COLUMN(view, name, type)
#include "catalog/builtin/system_views.def"
#undef SYSTEM_VIEW
#undef SYSTEM_VIEW_COLUMN
};

constexpr SystemViewColumn columns[] = {
#define SYSTEM_VIEW(oid, schema, name, row_type, array_type, definition)
#define SYSTEM_VIEW_COLUMN(view, name, type) {#view, #name, type},
#include "catalog/builtin/system_views.def"
#undef SYSTEM_VIEW
#undef SYSTEM_VIEW_COLUMN
};

}  // namespace

std::span<const SystemView> all_system_views() { return views; }

const SystemView* find_system_view(Oid oid) {
  for (const SystemView& view : views) {
    if (view.oid == oid) return &view;
  }
  return nullptr;
}

std::span<const SystemViewColumn> columns_of(const SystemView& view) {
  const SystemViewColumn* first = columns;
  while (first->view != view.name) ++first;
  const SystemViewColumn* last = first;
  while (last != std::end(columns) && last->view == view.name) ++last;
  return {first, last};
}

}  // namespace pgsilo
