// pg_lsn: a place in the log; here an epoch. A Datum holds it with the highest bit turned over, so
// that it orders as a signed integer does. Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "sql/types/datum.h"

namespace pgsilo {

inline constexpr uint64_t lsn_turned_bit = uint64_t{1} << 63;

inline Datum datum_of_lsn(uint64_t place) {
  return Datum::of_int(static_cast<int64_t>(place ^ lsn_turned_bit));
}
inline uint64_t lsn_of(Datum value) { return static_cast<uint64_t>(value.i64) ^ lsn_turned_bit; }

}  // namespace pgsilo
