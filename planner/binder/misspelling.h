// Hints for names that are nearly right, as PostgreSQL's errorMissingColumn gives them.
#pragma once

#include <string>
#include <string_view>

namespace pgsilo {

struct Scope;

// "Perhaps you meant to reference the column ...", or empty when nothing is near. `qualifier` may
// be empty.
std::string misspelling_hint(const Scope& scope, std::string_view qualifier, std::string_view name);

}  // namespace pgsilo
