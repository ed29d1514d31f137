// Functions of character strings and bytea.
#include "sql/types/text.h"

#include "base/asking_allocator.h"
#include "base/byte_buffer.h"
#include "base/long_work.h"
#include "executor/execution_context.h"
#include "executor/functions/function.h"
#include "executor/functions/md5.h"
#include "sql/sql_error.h"
#include "sql/types/array.h"
#include "sql/types/type.h"

namespace pgsilo::functions {
namespace {

using std::string_view;

Datum text(string_view value) { return Datum::of_bytes(value); }
int32_t int4(const Datum& value) { return static_cast<int32_t>(value.i64); }

Datum length(EvalContext&, const Datum* a) { return Datum::of_int(text_length(a[0].bytes())); }
Datum bpchar_length(EvalContext&, const Datum* a) {
  return Datum::of_int(text_length(bpchar_trim(a[0].bytes())));
}
Datum octet_length(EvalContext&, const Datum* a) { return Datum::of_int(a[0].length); }
Datum bit_length(EvalContext&, const Datum* a) { return Datum::of_int(int64_t{a[0].length} * 8); }

template <string_view (*operation)(string_view, Arena&)>
Datum of_one(EvalContext& context, const Datum* a) {
  return text(operation(a[0].bytes(), *context.arena));
}
Datum concatenate(EvalContext& context, const Datum* a) {
  return text(text_concat(a[0].bytes(), a[1].bytes(), *context.arena));
}
Datum substring(EvalContext&, const Datum* a) {
  return text(text_substring(a[0].bytes(), int4(a[1]), int4(a[2])));
}
Datum substring_to_end(EvalContext&, const Datum* a) {
  return text(text_substring(a[0].bytes(), int4(a[1])));
}

// substring over bytes: the same arithmetic as text_substring.
string_view byte_range(string_view bytes, int64_t start, int64_t end) {
  int64_t first = std::max<int64_t>(start, 1) - 1;
  int64_t last = std::min<int64_t>(end - 1, static_cast<int64_t>(bytes.size()));
  if (last <= first) return {};
  return bytes.substr(static_cast<size_t>(first), static_cast<size_t>(last - first));
}
Datum bytea_substring(EvalContext&, const Datum* a) {
  if (a[2].i64 < 0)
    throw SqlError(sqlstate::substring_error, "negative substring length not allowed");
  return text(byte_range(a[0].bytes(), a[1].i64, a[1].i64 + a[2].i64));
}
Datum bytea_substring_to_end(EvalContext&, const Datum* a) {
  return text(byte_range(a[0].bytes(), a[1].i64, int64_t{a[0].length} + 1));
}
// Of the second in the first, as of texts.
Datum bytea_position(EvalContext&, const Datum* a) {
  size_t at = find_part(a[0].bytes(), a[1].bytes());
  return Datum::of_int(at == string_view::npos ? 0 : static_cast<int64_t>(at) + 1);
}
Datum bytea_trim(EvalContext&, const Datum* a) {
  string_view bytes = a[0].bytes();
  string_view set = a[1].bytes();
  size_t first = bytes.find_first_not_of(set);
  if (first == string_view::npos) return text({});
  return text(bytes.substr(first, bytes.find_last_not_of(set) - first + 1));
}

Datum bytea_overlaid(EvalContext& context, const Datum* a, int64_t length) {
  int64_t start = a[2].i64;
  if (start <= 0)
    throw SqlError(sqlstate::substring_error, "negative substring length not allowed");
  int64_t end = start + length;
  if (end > INT32_MAX || end < INT32_MIN)
    throw SqlError(sqlstate::numeric_value_out_of_range, "integer out of range");
  string_view bytes = a[0].bytes();
  ByteBuffer result;
  result.append(byte_range(bytes, 1, start));
  result.append(a[1].bytes());
  result.append(byte_range(bytes, end, static_cast<int64_t>(bytes.size()) + 1));
  return text(copy_value(result.view(), *context.arena));
}
Datum bytea_overlay(EvalContext& context, const Datum* a) {
  return bytea_overlaid(context, a, a[3].i64);
}
Datum bytea_overlay_same_length(EvalContext& context, const Datum* a) {
  return bytea_overlaid(context, a, a[1].length);
}

Datum position(EvalContext&, const Datum* a) {
  return Datum::of_int(text_position(a[0].bytes(), a[1].bytes()));
}
Datum replace(EvalContext& context, const Datum* a) {
  return text(text_replace(a[0].bytes(), a[1].bytes(), a[2].bytes(), *context.arena));
}
Datum translate(EvalContext& context, const Datum* a) {
  return text(text_translate(a[0].bytes(), a[1].bytes(), a[2].bytes(), *context.arena));
}
template <bool left, bool right>
Datum trim(EvalContext&, const Datum* a) {
  return text(text_trim(a[0].bytes(), a[1].bytes(), left, right));
}
template <bool left, bool right>
Datum trim_blanks(EvalContext&, const Datum* a) {
  return text(text_trim(a[0].bytes(), " ", left, right));
}
Datum pad_left(EvalContext& context, const Datum* a) {
  return text(text_pad_left(a[0].bytes(), int4(a[1]), a[2].bytes(), *context.arena));
}
Datum pad_left_blanks(EvalContext& context, const Datum* a) {
  return text(text_pad_left(a[0].bytes(), int4(a[1]), " ", *context.arena));
}
Datum pad_right(EvalContext& context, const Datum* a) {
  return text(text_pad_right(a[0].bytes(), int4(a[1]), a[2].bytes(), *context.arena));
}
Datum pad_right_blanks(EvalContext& context, const Datum* a) {
  return text(text_pad_right(a[0].bytes(), int4(a[1]), " ", *context.arena));
}
Datum left(EvalContext&, const Datum* a) { return text(text_left(a[0].bytes(), int4(a[1]))); }
Datum right(EvalContext&, const Datum* a) { return text(text_right(a[0].bytes(), int4(a[1]))); }
Datum repeat(EvalContext& context, const Datum* a) {
  return text(text_repeat(a[0].bytes(), int4(a[1]), *context.arena));
}
Datum split_part(EvalContext&, const Datum* a) {
  return text(text_split_part(a[0].bytes(), a[1].bytes(), int4(a[2])));
}
Datum ascii(EvalContext&, const Datum* a) { return Datum::of_int(text_ascii(a[0].bytes())); }
Datum chr(EvalContext& context, const Datum* a) {
  return text(text_chr(int4(a[0]), *context.arena));
}
Datum to_hex4(EvalContext& context, const Datum* a) {
  return text(text_to_hex(static_cast<uint32_t>(a[0].i64), *context.arena));
}
Datum to_hex8(EvalContext& context, const Datum* a) {
  return text(text_to_hex(static_cast<uint64_t>(a[0].i64), *context.arena));
}
Datum starts_with(EvalContext&, const Datum* a) {
  return Datum::of_bool(a[0].bytes().starts_with(a[1].bytes()));
}
Datum overlay(EvalContext& context, const Datum* a) {
  return text(text_overlay(a[0].bytes(), a[1].bytes(), int4(a[2]), int4(a[3]), *context.arena));
}
Datum overlay_same_length(EvalContext& context, const Datum* a) {
  return text(text_overlay(a[0].bytes(), a[1].bytes(), int4(a[2]), text_length(a[1].bytes()),
                           *context.arena));
}
Datum md5(EvalContext& context, const Datum* a) {
  char digest[32];
  md5_hex(a[0].bytes(), digest);
  return text(context.arena->copy_string({digest, sizeof digest}));
}

// The text form of argument `index` of the running call.
string_view printed(EvalContext& context, const Datum* a, size_t index) {
  Oid type = context.call->argument_types[index];
  const TypeInfo& info = type_info(type == type_oid::unknown ? type_oid::text : type);
  ByteBuffer buffer;
  info.print(a[index], buffer, *context.types);
  return copy_value(buffer.view(), *context.arena);
}

// What a cast of the argument to text gives, which differs from its text form for booleans and
// char(n).
string_view cast_to_text(EvalContext& context, const Datum* a, size_t index) {
  if (context.call->argument_types[index] == type_oid::boolean) {
    return a[index].as_bool() ? "true" : "false";
  }
  if (context.call->argument_types[index] == type_oid::bpchar) return bpchar_trim(a[index].bytes());
  return printed(context, a, index);
}

Datum text_any(EvalContext& context, const Datum* a) {
  return text(text_concat(a[0].bytes(), cast_to_text(context, a, 1), *context.arena));
}
Datum any_text(EvalContext& context, const Datum* a) {
  return text(text_concat(cast_to_text(context, a, 0), a[1].bytes(), *context.arena));
}

Datum joined(EvalContext& context, const Datum* a, size_t first, string_view separator) {
  ByteBuffer buffer;
  bool any = false;
  for (size_t i = first; i < context.call->argument_types.size(); ++i) {
    if (a[i].null) continue;
    if (any) buffer.append(separator);
    any = true;
    buffer.append(printed(context, a, i));
  }
  return text(copy_value(buffer.view(), *context.arena));
}
Datum concat_values(EvalContext& context, const Datum* a) { return joined(context, a, 0, {}); }
Datum concat_with_separator(EvalContext& context, const Datum* a) {
  return a[0].null ? Datum() : joined(context, a, 1, a[0].bytes());
}

Datum quote_ident(EvalContext& context, const Datum* a) {
  return text(quote_identifier(a[0].bytes(), *context.arena));
}
Datum quote_text(EvalContext& context, const Datum* a) {
  return text(quote_literal(a[0].bytes(), *context.arena));
}
Datum quote_any(EvalContext& context, const Datum* a) {
  return text(quote_literal(cast_to_text(context, a, 0), *context.arena));
}
Datum quote_nullable_text(EvalContext& context, const Datum* a) {
  return a[0].null ? text("NULL") : quote_text(context, a);
}
Datum quote_nullable_any(EvalContext& context, const Datum* a) {
  return a[0].null ? text("NULL") : quote_any(context, a);
}

Datum encode(EvalContext& context, const Datum* a) {
  return text(bytea_encode(a[0].bytes(), a[1].bytes(), *context.arena));
}
Datum decode(EvalContext& context, const Datum* a) {
  return text(bytea_decode(a[0].bytes(), a[1].bytes(), *context.arena));
}

Datum count_nulls(EvalContext& context, const Datum* a) {
  int64_t count = 0;
  for (size_t i = 0; i < context.call->argument_types.size(); ++i) count += a[i].null ? 1 : 0;
  return Datum::of_int(count);
}
Datum count_non_nulls(EvalContext& context, const Datum* a) {
  return Datum::of_int(static_cast<int64_t>(context.call->argument_types.size()) -
                       count_nulls(context, a).i64);
}

Datum split_to_array(EvalContext& context, const Datum* a, string_view null_text,
                     bool has_null_text) {
  if (a[0].null) return Datum();
  AskingVector<Datum> parts;
  WorkMeter meter;
  auto add = [&](string_view part) {
    meter.did(part.size() + sizeof(Datum));
    append(parts, has_null_text && part == null_text ? Datum() : text(part));
  };
  string_view rest = a[0].bytes();
  if (rest.empty()) return make_array(type_oid::text, {}, *context.arena);
  if (a[1].null) {
    while (!rest.empty()) {
      size_t bytes = text_prefix_bytes(rest, 1);
      add(rest.substr(0, bytes));
      rest.remove_prefix(bytes);
    }
  } else if (a[1].length == 0) {
    add(rest);
  } else {
    for (size_t at; (at = find_part(rest, a[1].bytes())) != string_view::npos;) {
      add(rest.substr(0, at));
      rest.remove_prefix(at + a[1].length);
    }
    add(rest);
  }
  return make_array(type_oid::text, parts, *context.arena);
}
Datum string_to_array(EvalContext& context, const Datum* a) {
  return split_to_array(context, a, {}, false);
}
Datum string_to_array_with_null(EvalContext& context, const Datum* a) {
  return split_to_array(context, a, a[2].bytes(), !a[2].null);
}

Datum join_array(EvalContext& context, const Datum* a, const Datum& null_text) {
  ArrayReader reader(a[0]);
  const TypeInfo& element = type_info(reader.element());
  ByteBuffer buffer;
  bool any = false;
  WorkMeter meter;
  for (Datum value; reader.next(&value); meter.did(value.length + 32)) {
    if (value.null && null_text.null) continue;
    if (any) buffer.append(a[1].bytes());
    any = true;
    if (value.null) {
      buffer.append(null_text.bytes());
    } else {
      element.print(value, buffer, *context.types);
    }
  }
  return text(copy_value(buffer.view(), *context.arena));
}
Datum array_to_string(EvalContext& context, const Datum* a) {
  return join_array(context, a, Datum());
}
Datum array_to_string_with_null(EvalContext& context, const Datum* a) {
  return a[0].null || a[1].null ? Datum() : join_array(context, a, a[2]);
}

Datum convert_from(EvalContext&, const Datum* a) {
  string_view encoding = a[1].bytes();
  if (encoding != "UTF8" && encoding != "utf8" && encoding != "UTF-8" && encoding != "utf-8") {
    throw SqlError(sqlstate::feature_not_supported,
                   concat("encoding \"", encoding, "\" is not supported"));
  }
  validate_text(a[0].bytes());
  return a[0];
}

constexpr FunctionEntry entries[] = {
    {1317, length},
    {1381, length},
    {1369, length},
    {1318, bpchar_length},
    {1372, bpchar_length},
    {1367, bpchar_length},
    {2010, octet_length},  // length(bytea)
    {720, octet_length},
    {1374, octet_length},
    {1375, octet_length},
    {1811, bit_length},
    {870, of_one<text_lower>},
    {871, of_one<text_upper>},
    {872, of_one<text_initcap>},
    {3062, of_one<text_reverse>},
    {1258, concatenate},
    {2011, concatenate},
    {1946, encode},
    {1947, decode},
    {2003, text_any},
    {2004, any_text},
    {877, substring},
    {936, substring},
    {883, substring_to_end},
    {937, substring_to_end},
    {2012, bytea_substring},
    {2085, bytea_substring},
    {2013, bytea_substring_to_end},
    {2086, bytea_substring_to_end},
    {2014, bytea_position},
    {2015, bytea_trim},
    {749, bytea_overlay},
    {752, bytea_overlay_same_length},
    {849, position},
    {868, position},
    {2087, replace},
    {878, translate},
    {884, trim<true, true>},
    {875, trim<true, false>},
    {876, trim<false, true>},
    {885, trim_blanks<true, true>},
    {881, trim_blanks<true, false>},
    {882, trim_blanks<false, true>},
    {873, pad_left},
    {879, pad_left_blanks},
    {874, pad_right},
    {880, pad_right_blanks},
    {3060, left},
    {3061, right},
    {1622, repeat},
    {2088, split_part},
    {1620, ascii},
    {1621, chr},
    {2089, to_hex4},
    {2090, to_hex8},
    {3696, starts_with},
    {1404, overlay},
    {1405, overlay_same_length},
    {2311, md5},
    {2321, md5},
    {3058, concat_values},
    {3059, concat_with_separator},
    {1282, quote_ident},
    {1283, quote_text},
    {1285, quote_any},
    {1289, quote_nullable_text},
    {1290, quote_nullable_any},
    {438, count_nulls},
    {440, count_non_nulls},
    {394, string_to_array},
    {376, string_to_array_with_null},
    {395, array_to_string},
    {384, array_to_string_with_null},
    {1714, convert_from},
};

}  // namespace

std::span<const FunctionEntry> text() { return entries; }

}  // namespace pgsilo::functions
