// How messages say that a call of the file system failed. Thread safety: a plain function.
#pragma once

#include <string>
#include <string_view>

#include "base/file.h"

namespace pgsilo {

// could not read file "a/b": Input/output error
std::string could_not(std::string_view what, const std::string& path, const FileResult& result);

}  // namespace pgsilo
