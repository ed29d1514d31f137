// The order-preserving key of a numeric. Internal to key_codec.
#pragma once

#include "sql/types/datum.h"

namespace pgsilo {

class ByteBuffer;

// Appends: a sign class byte (0 -Infinity, 1 negative, 2 zero, 3 positive, 4 Infinity, 5 NaN); for
// finite non-zero values the decimal exponent e of 0.d1d2d3... x 10^e in 3 bytes, the digits in
// pairs, each pair plus one, and a 0. Everything after the class is inverted for negative values.
// Equal values of different scales give equal bytes.
void encode_numeric_key(Datum value, ByteBuffer& out);

}  // namespace pgsilo
