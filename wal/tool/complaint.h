// How a program says on its standard error what is wrong. Thread safety: plain functions.
#pragma once

#include <string>
#include <string_view>

namespace pgsilo {

// The first line says what is wrong, the others more of it.
void complain(std::string_view program, const std::string& why);

}  // namespace pgsilo
