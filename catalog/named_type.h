// Types by the names that statements give: built-in ones first, as pg_catalog comes first in every
// search path that does not name it; then those that users made.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog_view.h"
#include "sql/types/type.h"

namespace pgsilo {

// `name`: "mood", "s.mood", "_mood" for arrays; null when there is none. The view keeps it. Throws
// 3F000 `schema "s" does not exist`.
const TypeInfo* find_named_type(const CatalogView& catalog, std::span<const std::string_view> name);

// "mood", "s.mood" where it is not visible, "mood[]"; as format_type() of types that are not a
// user's, and of those that the view does not have.
std::string shown_type(const CatalogView& catalog, Oid type);

// The domains that decide which values `type` has: itself, those that it is over, and those of
// elements.
std::vector<std::shared_ptr<const TypeDescriptor>> domains_of(const CatalogView& catalog, Oid type);

}  // namespace pgsilo
