// Order-preserving keys: the bytes of two encoded rows compare (memcmp, shorter first) exactly as
// the rows compare column by column, each with its direction and its place for nulls. Equal values
// give equal bytes (1.0 and 1.00, -0 and 0, 'a' and 'a ' of char(n), 1 day and 24 hours), so
// uniqueness of keys is uniqueness of values.
//
// Every column's encoding is prefix-free, so concatenated columns keep the order and a prefix of
// the columns is a prefix of the key. Formats (before DESC, which inverts every byte of the value):
//   marker      one byte only if the column is nullable: 1 value, 0 null first, 2 null last
//   boolean, "char": 1 byte; integers, date, time, timestamp: big-endian, sign bit flipped
//   oid         big-endian
//   float       a double, big-endian, its bits made monotonic; NaN above everything, -0 as 0
//   text        the bytes, then 00 (text has no NUL); bpchar without its trailing blanks
//               Collation is "C": byte order, which for UTF-8 is code point order, the order of
//               PostgreSQL's C.UTF-8.
//   bytea       00 as 00 FF, then 00 00
//   numeric     sign class, decimal exponent, digit pairs (key_numeric.h)
//   interval    10 bytes: microseconds with months of 30 days and days of 24 hours
//   timetz      the moment in UTC as for time, then the seconds west
//   array       per element 01 value or 02 (null, last); then 00 and the lower bound
//   oidvector   count, then the elements
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "sql/types/datum.h"
#include "sql/types/type.h"

namespace pgsilo {

class ByteBuffer;

struct KeyColumn {
  const TypeInfo* type = nullptr;  // key_form is not none
  bool nullable = true;  // false saves the marker byte; then a null value is a broken invariant
  bool descending = false;
  bool nulls_first =
      false;  // independent of descending; SQL's default is nulls_first == descending
};

// Appends one column.
void encode_key(const KeyColumn& column, Datum value, ByteBuffer& out);

// How many bytes every value of the column takes; 0: they differ.
size_t encoded_bytes(const KeyColumn& column);

// Appends the columns in order; values.size() <= columns.size() (fewer: a prefix).
void encode_key(std::span<const KeyColumn> columns, std::span<const Datum> values, ByteBuffer& out);

// Appends only the marker that all non-null values of a nullable column begin with (nothing for one
// that is not nullable): a scan of IS NOT NULL, or of `< x`, begins or ends there.
void encode_not_null_prefix(const KeyColumn& column, ByteBuffer& out);

// Turns a key prefix into the least byte string above every key that begins with it. False when
// there is none (only FF bytes): then the range has no upper end.
bool advance_past_prefix(ByteBuffer& key);

}  // namespace pgsilo
