// A part of a row, by its place among the row's bytes. Thread safety: a value.
#pragma once

#include <cstdint>

namespace pgsilo {

struct RowRange {
  uint32_t offset = 0;
  uint32_t bytes = 0;
};

}  // namespace pgsilo
