// Text and binary forms of arrays, int2vector and oidvector.
#include "base/asking_allocator.h"
#include "base/long_work.h"
#include "sql/sql_error.h"
#include "sql/types/array.h"
#include "sql/types/integer.h"
#include "sql/types/scan.h"
#include "sql/types/type_functions.h"

namespace pgsilo::types {

namespace {

// Subscripts are int4s, and so is the one behind the last.
void check_bounds(int64_t lower, int64_t count) {
  if (lower + count <= INT32_MAX) return;
  throw SqlError(sqlstate::program_limit_exceeded,
                 concat("array lower bound is too large: ", lower));
}

// Reads "{a,"b c",NULL}", optionally after "[lower:upper]=".
class ArrayParser {
 public:
  ArrayParser(Oid element, std::string_view text, int32_t typmod, TypeContext& ctx)
      : type_(type_info(element)), text_(text), typmod_(typmod), ctx_(ctx) {}

  Datum parse() {
    skip_space();
    bool bounded = parse_bounds();
    if (peek() != '{') {
      fail("Array value must start with \"{\" or dimension information.");
    }
    ++at_;
    skip_space();
    if (peek() == '}') {
      ++at_;
    } else {
      parse_elements();
    }
    skip_space();
    if (at_ != text_.size()) fail("Junk after closing right brace.");
    if (bounded && static_cast<int64_t>(values_.size()) != int64_t{upper_} - lower_ + 1) {
      fail("Specified array dimensions do not match array contents.");
    }
    check_bounds(lower_, static_cast<int64_t>(values_.size()));
    return make_array(type_.oid, values_, *ctx_.arena, values_.empty() ? 1 : lower_);
  }

 private:
  [[noreturn]] void fail(std::string_view detail) {
    throw SqlError(sqlstate::invalid_text_representation,
                   concat("malformed array literal: \"", text_, "\""))
        .detail(std::string(detail));
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  int32_t parse_bound() {
    size_t start = at_;
    if (peek() == '-' || peek() == '+') ++at_;
    while (is_digit(peek())) ++at_;
    if (at_ == start) fail("\"[\" must introduce explicitly-specified array dimensions.");
    return static_cast<int32_t>(pgsilo::parse_integer(text_.substr(start, at_ - start), 4));
  }

  bool parse_bounds() {
    if (peek() != '[') return false;
    ++at_;
    lower_ = 1;
    upper_ = parse_bound();
    if (peek() == ':') {
      ++at_;
      lower_ = upper_;
      upper_ = parse_bound();
    }
    if (peek() != ']') fail("Missing \"]\" after array dimensions.");
    ++at_;
    skip_space();
    if (peek() == '[') throw_unsupported("an array of more than one dimension");
    if (upper_ < lower_) {
      throw SqlError(sqlstate::array_subscript_error,
                     "upper bound cannot be less than lower bound");
    }
    if (peek() != '=') fail("Missing \"=\" after array dimensions.");
    ++at_;
    skip_space();
    return true;
  }

  void parse_elements() {
    while (true) {
      skip_space();
      parse_element();
      skip_space();
      char next = peek();
      if (at_ == text_.size()) fail("Unexpected end of input.");
      ++at_;
      if (next == '}') return;
      if (next != type_.delimiter) fail("Unexpected array element.");
    }
  }

  void parse_element() {
    if (at_ == text_.size()) fail("Unexpected end of input.");
    char first = peek();
    if (first == '{') throw_unsupported("an array of more than one dimension");
    if (first == type_.delimiter) fail(concat("Unexpected \"", first, "\" character."));
    if (first == '}') fail("Unexpected \"}\" character.");
    if (first == '"') {
      parse_quoted();
    } else {
      parse_plain();
    }
  }

  void add(std::string_view item) {
    meter_.did(item.size() + 64);
    values_.push_back(type_.parse(ctx_.arena->copy_string(item), typmod_, ctx_));
  }

  void parse_quoted() {
    AskingString item;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size()) item += text_[at_];
    }
    if (at_ >= text_.size()) fail("Unexpected end of input.");
    ++at_;
    add(item);
  }

  void parse_plain() {
    AskingString item;
    size_t kept = 0;  // length without trailing blanks
    bool escaped = false;
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '}' || c == type_.delimiter) break;
      if (c == '{') fail("Unexpected \"{\" character.");
      if (c == '"') fail("Unexpected array element.");
      bool blank = is_space(c);
      if (c == '\\') {
        escaped = true;
        if (++at_ == text_.size()) fail("Unexpected end of input.");
        c = text_[at_];
      }
      item += c;
      if (!blank) kept = item.size();
      ++at_;
    }
    item.resize(kept);
    if (!escaped && equal_ignoring_case(item, "null")) {
      values_.push_back(Datum::null_value());
    } else {
      add(item);
    }
  }

  const TypeInfo& type_;
  std::string_view text_;
  int32_t typmod_;
  TypeContext& ctx_;
  size_t at_ = 0;
  int32_t lower_ = 1;
  int32_t upper_ = 0;
  AskingVector<Datum> values_;
  WorkMeter meter_;
};

bool needs_quotes(std::string_view item, char delimiter) {
  if (item.empty() || equal_ignoring_case(item, "null")) return true;
  for (char c : item) {
    if (c == '"' || c == '\\' || c == '{' || c == '}' || c == delimiter || is_space(c)) return true;
  }
  return false;
}

void print_item(std::string_view item, char delimiter, ByteBuffer& out) {
  if (!needs_quotes(item, delimiter)) {
    out.append(item);
    return;
  }
  out.append('"');
  for (char c : item) {
    if (c == '"' || c == '\\') out.append('\\');
    out.append(c);
  }
  out.append('"');
}

Datum parse_vector(Oid element, std::string_view text, TypeContext& ctx) {
  AskingVector<Datum> values;
  const TypeInfo& type = type_info(element);
  size_t at = 0;
  while (true) {
    while (at < text.size() && is_space(text[at])) ++at;
    if (at == text.size()) break;
    size_t end = at;
    while (end < text.size() && !is_space(text[end])) ++end;
    values.push_back(type.parse(text.substr(at, end - at), no_typmod, ctx));
    at = end;
  }
  return make_array(element, values, *ctx.arena, 0);
}

// Takes big-endian words off a binary array.
class BinaryReader {
 public:
  explicit BinaryReader(std::string_view bytes) : bytes_(bytes) {}
  std::string_view take(size_t count) {
    if (bytes_.size() < count) exact_bytes(bytes_, count);
    std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  int32_t word() { return static_cast<int32_t>(load_be32(take(4).data())); }
  bool at_end() const { return bytes_.empty(); }
  size_t left() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
};

[[noreturn]] void throw_malformed(std::string_view what) {
  throw SqlError(sqlstate::invalid_binary_representation, std::string(what));
}

}  // namespace

Datum parse_array(Oid element, std::string_view text, int32_t typmod, TypeContext& ctx) {
  return ArrayParser(element, text, typmod, ctx).parse();
}

void print_array(Datum value, ByteBuffer& out, const TypeContext& ctx) {
  ArrayReader reader(value);
  const TypeInfo& type = type_info(reader.element());
  if (reader.count() != 0 && reader.lower_bound() != 1) {
    out.append('[');
    out.append_decimal(reader.lower_bound());
    out.append(':');
    out.append_decimal(int64_t{reader.lower_bound()} + reader.count() - 1);
    out.append("]=");
  }
  out.append('{');
  ByteBuffer item;
  Datum element;
  WorkMeter meter;
  for (bool first = true; reader.next(&element); first = false) {
    if (!first) out.append(type.delimiter);
    if (element.null) {
      out.append("NULL");
      continue;
    }
    item.clear();
    type.print(element, item, ctx);
    meter.did(item.size() + 32);
    print_item(item.view(), type.delimiter, out);
  }
  out.append('}');
}

Datum receive_array(Oid element, std::string_view bytes, int32_t typmod, TypeContext& ctx) {
  BinaryReader reader(bytes);
  int32_t dimensions = reader.word();
  int32_t flags = reader.word();
  Oid sent = static_cast<Oid>(reader.word());
  if (dimensions < 0) throw_malformed(concat("invalid number of dimensions: ", dimensions));
  if (flags != 0 && flags != 1) throw_malformed("invalid array flags");
  if (sent != element) {
    throw SqlError(sqlstate::datatype_mismatch,
                   concat("binary data has array element type ", sent, " (", format_type(sent),
                          ") instead of expected ", element, " (", format_type(element), ")"));
  }
  if (dimensions > 1) throw_unsupported("an array of more than one dimension");
  int32_t count = dimensions == 0 ? 0 : reader.word();
  int32_t lower = dimensions == 0 ? 1 : reader.word();
  // Every element has a length word: a count beyond that is a lie told to make us allocate.
  if (count < 0 || static_cast<size_t>(count) > reader.left() / 4) {
    exact_bytes({}, 1);
  }
  check_bounds(lower, count);
  const TypeInfo& type = type_info(element);
  AskingVector<Datum> values(static_cast<size_t>(count));
  for (Datum& value : values) {
    int32_t length = reader.word();
    if (length == -1) continue;
    if (length < 0) exact_bytes({}, 1);
    value = type.receive(reader.take(static_cast<size_t>(length)), typmod, ctx);
  }
  if (!reader.at_end()) throw_malformed("incorrect binary data format");
  // An empty array has no bounds; vectors begin at 0 all the same.
  if (values.empty() && lower != 0) lower = 1;
  return make_array(element, values, *ctx.arena, lower);
}

void send_array(Datum value, ByteBuffer& out, const TypeContext& ctx) {
  ArrayReader reader(value);
  const TypeInfo& type = type_info(reader.element());
  size_t start = out.size();
  bool has_bounds = reader.count() != 0 || reader.lower_bound() == 0;
  out.append_be32(has_bounds ? 1 : 0);
  out.append_be32(0);
  out.append_be32(reader.element());
  if (has_bounds) {
    out.append_be32(reader.count());
    out.append_be32(static_cast<uint32_t>(reader.lower_bound()));
  }
  Datum element;
  while (reader.next(&element)) {
    size_t length_at = out.size();
    out.append_be32(UINT32_MAX);
    if (element.null) {
      out.patch_be32(start + 4, 1);
      continue;
    }
    type.send(element, out, ctx);
    out.patch_be32(length_at, static_cast<uint32_t>(out.size() - length_at - 4));
  }
}

Datum apply_array_typmod(Datum value, int32_t typmod, bool explicit_cast, TypeContext& ctx) {
  ArrayReader reader(value);
  const TypeInfo& type = type_info(reader.element());
  if (type.apply_typmod == nullptr) return value;
  AskingVector<Datum> values;
  values.reserve(reader.count());
  Datum element;
  WorkMeter meter;
  while (reader.next(&element)) {
    meter.did(64);
    if (!element.null) element = type.apply_typmod(element, typmod, explicit_cast, ctx);
    values.push_back(element);
  }
  return make_array(type.oid, values, *ctx.arena, reader.lower_bound());
}

Datum parse_int2vector(std::string_view text, int32_t, TypeContext& ctx) {
  return parse_vector(type_oid::int2, text, ctx);
}

Datum parse_oidvector(std::string_view text, int32_t, TypeContext& ctx) {
  return parse_vector(type_oid::oid, text, ctx);
}

void print_vector(Datum value, ByteBuffer& out, const TypeContext& ctx) {
  ArrayReader reader(value);
  const TypeInfo& type = type_info(reader.element());
  Datum element;
  for (bool first = true; reader.next(&element); first = false) {
    if (!first) out.append(' ');
    type.print(element, out, ctx);
  }
}

}  // namespace pgsilo::types
