// Numbers of a command line. Thread safety: plain functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace pgsilo {

// Decimal digits and nothing else, that fit.
bool parse_number(std::string_view text, uint64_t* number);
// "5": 5 to 5, "5-7": 5 to 7, "5-": 5 and everything after it.
bool parse_number_range(std::string_view text, uint64_t* first, uint64_t* last);

}  // namespace pgsilo
