// Parts of a row, by their place among the row's bytes. Thread safety: values.
#pragma once

#include <cstdint>
#include <span>

namespace pgsilo {

struct RowRange {
  uint32_t offset = 0;
  uint32_t bytes = 0;
};

// What somebody uses of a row.
struct RowPart {
  RowPart() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): ranges are a part
  RowPart(std::span<const RowRange> of, uint32_t size = 0) : ranges(of), row_bytes(size) {}

  std::span<const RowRange> ranges;
  uint32_t row_bytes = 0;  // how long the row is; 0: that does not matter
};

}  // namespace pgsilo
