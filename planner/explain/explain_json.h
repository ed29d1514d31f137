// JSON text for EXPLAIN.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace pgsilo {

// Quoted and escaped.
std::string json_string(std::string_view text);

}  // namespace pgsilo
