// Bytes as text that a terminal and a script can read. Thread safety: plain functions.
#pragma once

#include <string>
#include <string_view>

namespace pgsilo {

// Appends the bytes in quotes: printable ASCII as it is, \" and \\, everything else as \x and two
// hexadecimal digits.
void append_quoted(std::string& to, std::string_view bytes);

}  // namespace pgsilo
