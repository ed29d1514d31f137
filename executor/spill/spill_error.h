// What a statement is told when a temporary file fails. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.h"
#include "sql/sql_error.h"

namespace pgsilo {

// could not write to file "temporary/71.3": No space left on device: 53100; without descriptors
// 53000, else 58030.
SqlError file_error(std::string_view what, const std::string& path, const FileResult& result);
// XX001
SqlError damaged_block(const std::string& path, uint64_t block);

}  // namespace pgsilo
