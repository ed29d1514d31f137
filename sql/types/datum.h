// One SQL value: 16 bytes, trivially copyable, untagged. Its type is known from the expression, not
// from the value.
//
// By value, in i64:  boolean (0/1), int2, int4, int8, oid and the reg* types, xid, cid, tid, "char"
// (0..255),
//                    date (days since 2000-01-01), time (microseconds since midnight), timestamp
//                    and timestamptz (microseconds since 2000-01-01 00:00, timestamptz in UTC).
// By value, in f64:  float8, float4 (a double that a float represents exactly).
// By reference:      text, varchar, bpchar (blank-padded), name, unknown, cstring (all valid UTF-8
// without NUL), bytea,
//                    numeric (numeric.h), interval (16 bytes, interval.h), timetz (12 bytes),
//                    arrays (array.h).
// Invariants: a null Datum's other fields are meaningless but zero when made here; who makes a
// by-reference Datum says how long its bytes live (an Arena, a row copy, the text it was parsed
// from).
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace pgsilo {

struct Datum {
  union {
    int64_t i64;
    double f64;
    const char* ptr;
  };
  uint32_t length = 0;  // of by-reference values, in bytes
  bool null = true;

  // NULL.
  constexpr Datum() : i64(0) {}

  static constexpr Datum null_value() { return Datum(); }
  static constexpr Datum of_int(int64_t value) {
    Datum datum;
    datum.i64 = value;
    datum.null = false;
    return datum;
  }
  static constexpr Datum of_bool(bool value) { return of_int(value ? 1 : 0); }
  static constexpr Datum of_float(double value) {
    Datum datum;
    datum.f64 = value;
    datum.null = false;
    return datum;
  }
  // Points at the caller's bytes; their number is below 2^32 (limits::max_value_bytes).
  static constexpr Datum of_bytes(std::string_view bytes) {
    Datum datum;
    datum.ptr = bytes.data();
    datum.length = static_cast<uint32_t>(bytes.size());
    datum.null = false;
    return datum;
  }

  constexpr bool as_bool() const { return i64 != 0; }
  constexpr std::string_view bytes() const { return {ptr, length}; }
};

static_assert(sizeof(Datum) == 16 && std::is_trivially_copyable_v<Datum>);

}  // namespace pgsilo
