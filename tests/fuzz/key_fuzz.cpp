// The key codec: the order of encoded keys is the order of the values, for any two texts, numbers
// and directions.
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/byte_buffer.h"
#include "sql/types/key_codec.h"

namespace {

using pgsilo::Datum;

int sign(int order) { return (order > 0) - (order < 0); }

void check(pgsilo::Oid oid, Datum left, Datum right, bool descending) {
  const pgsilo::TypeInfo& type = pgsilo::type_info(oid);
  pgsilo::KeyColumn column{&type, false, descending, false};
  pgsilo::ByteBuffer left_key, right_key;
  encode_key(column, left, left_key);
  encode_key(column, right, right_key);
  int order = sign(left_key.view().compare(right_key.view()));
  int expected = sign(type.compare(left, right));
  if (order != (descending ? -expected : expected)) std::abort();
}

std::string_view without_nul(std::string_view text) { return text.substr(0, text.find('\0')); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 17) return 0;
  bool descending = (data[0] & 1) != 0;
  int64_t numbers[2];
  std::memcpy(numbers, data + 1, sizeof numbers);
  double floats[2];
  std::memcpy(floats, data + 1, sizeof floats);
  check(pgsilo::type_oid::int8, Datum::of_int(numbers[0]), Datum::of_int(numbers[1]), descending);
  check(pgsilo::type_oid::float8, Datum::of_float(floats[0]), Datum::of_float(floats[1]),
        descending);
  std::string_view rest(reinterpret_cast<const char*>(data + 17), size - 17);
  std::string_view left = rest.substr(0, rest.size() / 2);
  std::string_view right = rest.substr(rest.size() / 2);
  check(pgsilo::type_oid::bytea, Datum::of_bytes(left), Datum::of_bytes(right), descending);
  check(pgsilo::type_oid::text, Datum::of_bytes(without_nul(left)),
        Datum::of_bytes(without_nul(right)), descending);
  return 0;
}
