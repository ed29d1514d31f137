// The key codec: the order of encoded keys is the order of the values, for any two texts, numbers
// and directions.
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "base/byte_buffer.h"
#include "sql/sql_error.h"
#include "sql/types/key_codec.h"
#include "sql/types/type_context.h"

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

// A numeric whose text the bytes choose, or none if they choose no number's.
std::optional<Datum> number(std::string_view bytes, pgsilo::TypeContext& types) {
  static constexpr std::string_view alphabet = "0123456789.-e0";
  std::string text;
  for (char byte : bytes) text += alphabet[static_cast<unsigned char>(byte) % alphabet.size()];
  try {
    std::string_view kept = types.arena->copy_string(text);
    return pgsilo::type_info(pgsilo::type_oid::numeric).parse(kept, -1, types);
  } catch (const pgsilo::SqlError&) {
    return std::nullopt;
  }
}

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
  for (pgsilo::Oid type : {pgsilo::type_oid::text, pgsilo::type_oid::bpchar}) {
    check(type, Datum::of_bytes(without_nul(left)), Datum::of_bytes(without_nul(right)),
          descending);
  }
  pgsilo::Arena arena;
  pgsilo::TypeContext types;
  types.arena = &arena;
  std::optional<Datum> left_number = number(left, types);
  std::optional<Datum> right_number = number(right, types);
  if (left_number && right_number) {
    check(pgsilo::type_oid::numeric, *left_number, *right_number, descending);
  }
  return 0;
}
