// What the server calls itself. Clients read the version of PostgreSQL whose behaviour they may
// expect.
#pragma once

#include <string_view>

namespace pgsilo {

inline constexpr std::string_view server_version = "15.20 (pgsilo 0.1)";
inline constexpr std::string_view server_version_number = "150020";

}  // namespace pgsilo
