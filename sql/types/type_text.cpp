// text, varchar, bpchar, name and the texts without an order of their own.
#include "base/long_work.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"
#include "sql/types/type_functions.h"

namespace pgsilo::types {

namespace {

[[noreturn]] void throw_too_long(std::string_view type_name, int32_t length) {
  throw SqlError(sqlstate::string_data_right_truncation,
                 concat("value too long for type ", type_name, "(", length, ")"));
}

// `text` cut to `length` characters; blanks may always go, other characters only when the cast is
// explicit.
std::string_view cut_to(std::string_view text, int32_t length, bool explicit_cast,
                        std::string_view type_name) {
  if (text.size() <= static_cast<size_t>(length)) return text;
  size_t bytes = text_prefix_bytes(text, length);
  if (!explicit_cast && text.find_first_not_of(' ', bytes) != std::string_view::npos) {
    throw_too_long(type_name, length);
  }
  return text.substr(0, bytes);
}

int32_t make_length_typmod(std::span<const int32_t> modifiers, std::string_view name) {
  if (modifiers.size() != 1) {
    throw SqlError(sqlstate::invalid_parameter_value, "invalid type modifier");
  }
  if (modifiers[0] < 1) {
    throw SqlError(sqlstate::invalid_parameter_value,
                   concat("length for type ", name, " must be at least 1"));
  }
  if (modifiers[0] > limits::max_char_length) {
    throw SqlError(sqlstate::invalid_parameter_value,
                   concat("length for type ", name, " cannot exceed ", limits::max_char_length));
  }
  return modifiers[0] + typmod_header;
}

}  // namespace

Datum parse_text(const TypeInfo&, std::string_view text, int32_t, TypeContext&) {
  return Datum::of_bytes(text);
}

void print_text(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) {
  out.commit_to(copy_value(out.reserve(value.length), value.bytes()));
}

Datum receive_text(const TypeInfo&, std::string_view bytes, int32_t, TypeContext&) {
  validate_text(bytes);
  return Datum::of_bytes(bytes);
}

Datum parse_node_tree(const TypeInfo&, std::string_view, int32_t, TypeContext&) {
  throw SqlError(sqlstate::feature_not_supported, "cannot accept a value of type pg_node_tree");
}

Datum receive_node_tree(const TypeInfo& type, std::string_view bytes, int32_t typmod,
                        TypeContext& ctx) {
  return parse_node_tree(type, bytes, typmod, ctx);
}

Datum apply_varchar_typmod(const TypeInfo&, Datum value, int32_t typmod, bool explicit_cast,
                           TypeContext&) {
  if (typmod < typmod_header) return value;
  return Datum::of_bytes(
      cut_to(value.bytes(), typmod - typmod_header, explicit_cast, "character varying"));
}

Datum parse_varchar(const TypeInfo& type, std::string_view text, int32_t typmod, TypeContext& ctx) {
  return apply_varchar_typmod(type, Datum::of_bytes(text), typmod, false, ctx);
}

Datum receive_varchar(const TypeInfo& type, std::string_view bytes, int32_t typmod,
                      TypeContext& ctx) {
  return apply_varchar_typmod(type, receive_text(type, bytes, no_typmod, ctx), typmod, false, ctx);
}

Datum apply_bpchar_typmod(const TypeInfo&, Datum value, int32_t typmod, bool explicit_cast,
                          TypeContext& ctx) {
  if (typmod < typmod_header) return value;
  int32_t length = typmod - typmod_header;
  std::string_view cut = cut_to(value.bytes(), length, explicit_cast, "character");
  return Datum::of_bytes(bpchar_pad(cut, length, *ctx.arena));
}

Datum parse_bpchar(const TypeInfo& type, std::string_view text, int32_t typmod, TypeContext& ctx) {
  return apply_bpchar_typmod(type, Datum::of_bytes(text), typmod, false, ctx);
}

Datum receive_bpchar(const TypeInfo& type, std::string_view bytes, int32_t typmod,
                     TypeContext& ctx) {
  return apply_bpchar_typmod(type, receive_text(type, bytes, no_typmod, ctx), typmod, false, ctx);
}

int compare_bpchar(const TypeInfo&, Datum left, Datum right) {
  int order = bpchar_trim(left.bytes()).compare(bpchar_trim(right.bytes()));
  return order < 0 ? -1 : order > 0;
}

bool equal_bpchar(const TypeInfo&, Datum left, Datum right) {
  return bpchar_trim(left.bytes()) == bpchar_trim(right.bytes());
}

uint64_t hash_bpchar(const TypeInfo&, Datum value) {
  return hash_bytes(bpchar_trim(value.bytes()));
}

int32_t make_varchar_typmod(std::span<const int32_t> modifiers) {
  return make_length_typmod(modifiers, "varchar");
}

int32_t make_bpchar_typmod(std::span<const int32_t> modifiers) {
  return make_length_typmod(modifiers, "char");
}

void print_length_typmod(int32_t typmod, ByteBuffer& out) {
  if (typmod <= typmod_header) return;
  out.append('(');
  out.append_decimal(typmod - typmod_header);
  out.append(')');
}

Datum parse_name(const TypeInfo&, std::string_view text, int32_t, TypeContext&) {
  return Datum::of_bytes(text_clip(text, limits::max_identifier_bytes));
}

Datum receive_name(const TypeInfo&, std::string_view bytes, int32_t, TypeContext&) {
  validate_text(bytes);
  if (bytes.size() > limits::max_identifier_bytes) {
    throw SqlError(sqlstate::name_too_long, "identifier too long")
        .detail(concat("Identifier must be less than ", limits::max_identifier_bytes + 1,
                       " characters."));
  }
  return Datum::of_bytes(bytes);
}

}  // namespace pgsilo::types
