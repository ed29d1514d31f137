// Roman numerals, as to_char's RN shows them.
#pragma once

#include <cstdint>
#include <string>

namespace pgsilo::functions {

// Right-aligned in 15 places if it is `padded`; those hold the longest, 3888. Other numbers than 1
// to 3999 have none: fifteen times '#'.
std::string roman_numeral(int64_t number, bool padded, bool lower);

}  // namespace pgsilo::functions
