// What this build calls itself, to operators and in what it writes.
#pragma once

#include <string_view>

namespace pgsilo {

inline constexpr std::string_view product_version = "pgsilo 0.1";

}  // namespace pgsilo
