// Every size limit of the storage engine, in one place.
#pragma once

#include <cstddef>

namespace pgsilo {

// A key of an index tree, encoded. Longer keys are refused by whoever encodes them (54000).
inline constexpr size_t max_key_bytes = 8192;

// One row's payload.
inline constexpr size_t max_row_bytes = size_t{1} << 30;

// Reads of a transaction that rest on a part of their row; each validation looks at all of them,
// and so does who writes what was read. Those beyond rest on the whole row (docs/hot_records.md).
inline constexpr size_t max_partial_reads = 1024;

}  // namespace pgsilo
