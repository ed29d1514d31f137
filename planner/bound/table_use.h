// What a statement does with a table, from the weakest. Thread safety: values.
#pragma once

#include <cstdint>

namespace pgsilo {

enum class TableUse : uint8_t { read, lock_rows, write };

}  // namespace pgsilo
