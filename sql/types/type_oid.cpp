// oid and what looks like it: xid, cid, the reg* types; and tid, a block and an offset in one
// integer.
#include <charconv>

#include "sql/sql_error.h"
#include "sql/types/scan.h"
#include "sql/types/type_functions.h"

namespace pgsilo::types {

namespace {

// Digits of `base` with a sign, as strtoul reads them: "-1" is the largest value. False without
// digits.
bool scan_unsigned(const char*& at, const char* end, int base, uint64_t* value, bool* overflow) {
  while (at != end && is_space(*at)) ++at;
  bool negative = at != end && *at == '-';
  if (at != end && (*at == '-' || *at == '+')) ++at;
  auto [stop, error] = std::from_chars(at, end, *value, base);
  if (stop == at) return false;
  at = stop;
  if (negative) *value = 0 - *value;
  *overflow = error == std::errc::result_out_of_range;
  return true;
}

bool fits_oid(uint64_t value) {
  int64_t as_signed = static_cast<int64_t>(value);
  return value <= UINT32_MAX || (as_signed < 0 && as_signed >= INT32_MIN);
}

uint64_t scan_oid(std::string_view text) {
  const char* at = text.data();
  const char* end = at + text.size();
  uint64_t value;
  bool overflow;
  if (!scan_unsigned(at, end, 10, &value, &overflow)) throw_invalid_syntax("oid", text);
  if (overflow) throw_value_out_of_range("oid", text);
  while (at != end && is_space(*at)) ++at;
  if (at != end) throw_invalid_syntax("oid", text);
  if (!fits_oid(value)) throw_value_out_of_range("oid", text);
  return static_cast<uint32_t>(value);
}

}  // namespace

Datum parse_oid(const TypeInfo&, std::string_view text, int32_t, TypeContext&) {
  return Datum::of_int(static_cast<int64_t>(scan_oid(text)));
}

// PostgreSQL takes what strtoul(..., 0) takes and does not mind the rest.
Datum parse_xid(const TypeInfo&, std::string_view text, int32_t, TypeContext&) {
  std::string_view digits = trim_space(text);
  int base = 10;
  if (starts_with_ignoring_case(digits, "0x")) {
    base = 16;
    digits.remove_prefix(2);
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = 8;
  }
  const char* at = digits.data();
  uint64_t value = 0;
  bool overflow = false;
  if (!scan_unsigned(at, digits.data() + digits.size(), base, &value, &overflow)) value = 0;
  if (overflow) value = UINT64_MAX;
  return Datum::of_int(static_cast<uint32_t>(value));
}

Datum receive_oid(const TypeInfo&, std::string_view bytes, int32_t, TypeContext&) {
  return Datum::of_int(load_be32(exact_bytes(bytes, 4)));
}

void send_oid(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) {
  out.append_be32(static_cast<uint32_t>(value.i64));
}

Datum parse_tid(const TypeInfo&, std::string_view text, int32_t, TypeContext&) {
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end && is_space(*at)) ++at;
  uint64_t block = 0;
  uint64_t offset = 0;
  bool overflow = false;
  bool valid = at != end && *at++ == '(' && scan_unsigned(at, end, 10, &block, &overflow) &&
               at != end && *at++ == ',' && fits_oid(block) && !overflow &&
               scan_unsigned(at, end, 10, &offset, &overflow) && at != end && *at == ')' &&
               offset <= UINT16_MAX && !overflow;
  if (!valid) throw_invalid_syntax("tid", text);
  return Datum::of_int((static_cast<int64_t>(static_cast<uint32_t>(block)) << 16) |
                       static_cast<int64_t>(offset));
}

void print_tid(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) {
  out.append('(');
  out.append_decimal(value.i64 >> 16);
  out.append(',');
  out.append_decimal(value.i64 & 0xffff);
  out.append(')');
}

Datum receive_tid(const TypeInfo&, std::string_view bytes, int32_t, TypeContext&) {
  const char* from = exact_bytes(bytes, 6);
  return Datum::of_int((static_cast<int64_t>(load_be32(from)) << 16) | load_be16(from + 4));
}

void send_tid(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) {
  out.append_be32(static_cast<uint32_t>(value.i64 >> 16));
  out.append_be16(static_cast<uint16_t>(value.i64));
}

Datum parse_object_name(const TypeInfo& type, std::string_view text, int32_t, TypeContext& ctx) {
  if (text == "-") return Datum::of_int(0);
  bool all_digits = !text.empty();
  for (char c : text) all_digits &= is_digit(c);
  if (all_digits) return Datum::of_int(static_cast<int64_t>(scan_oid(text)));
  if (ctx.object_names == nullptr) throw_invalid_syntax(type.name, text);
  return Datum::of_int(ctx.object_names->find(type.oid, text));
}

void print_object_name(const TypeInfo& type, Datum value, ByteBuffer& out, const TypeContext& ctx) {
  Oid object = static_cast<Oid>(value.i64);
  if (object == invalid_oid) {
    out.append('-');
  } else if (ctx.object_names == nullptr || !ctx.object_names->print(type.oid, object, out)) {
    out.append_decimal(value.i64);
  }
}

}  // namespace pgsilo::types
