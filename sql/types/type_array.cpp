// Text and binary forms of arrays, int2vector and oidvector.
#include <algorithm>

#include "base/asking_allocator.h"
#include "base/long_work.h"
#include "sql/sql_error.h"
#include "sql/types/array.h"
#include "sql/types/integer.h"
#include "sql/types/scan.h"
#include "sql/types/type_functions.h"

namespace pgsilo::types {

namespace {

// An element as it is written, without quotes and backslashes.
struct WrittenElement {
  std::string_view text;
  bool null = false;
};

// Reads "{a,"b c",NULL}" and "{{1,2},{3,4}}", optionally after "[lower:upper]..=": first all of
// the structure, then the elements, so that of several mistakes the one is told that PostgreSQL
// tells.
class ArrayParser {
 public:
  ArrayParser(const TypeInfo& element, std::string_view text, int32_t typmod, TypeContext& ctx)
      : type_(element), text_(text), typmod_(typmod), ctx_(ctx) {}

  Datum parse() {
    skip_space();
    ArrayShape bounds = parse_bounds();
    if (peek() != '{') fail("Array value must start with \"{\" or dimension information.");
    shown_from_ = at_;
    parse_structure();
    skip_space();
    if (at_ != text_.size()) fail("Junk after closing right brace.");
    shown_from_ = 0;
    ArrayShape shape = shape_of_contents();
    if (bounds.dimensions != 0) {
      require_bounds_fit(bounds, shape);
      shape = bounds;
    }
    shape.check_bounds();
    return make_array(type_, shape, parse_elements(), *ctx_.arena);
  }

 private:
  // What came last inside the innermost braces.
  enum class Last : uint8_t { opening, element, closing, element_comma, closing_comma };

  [[noreturn]] void fail(std::string_view detail) {
    throw SqlError(sqlstate::invalid_text_representation,
                   concat("malformed array literal: \"", text_.substr(shown_from_), "\""))
        .detail(std::string(detail));
  }
  [[noreturn]] void fail_unexpected(char c) { fail(concat("Unexpected \"", c, "\" character.")); }
  [[noreturn]] static void throw_too_deep(int dimensions) {
    throw SqlError(sqlstate::program_limit_exceeded,
                   concat("number of array dimensions (", dimensions,
                          ") exceeds the maximum allowed (", limits::max_array_dimensions, ")"));
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  // What is not an int4 is the nearest; then the contents do not fit.
  int32_t parse_bound() {
    size_t start = at_;
    if (peek() == '-' || peek() == '+') ++at_;
    while (is_digit(peek())) ++at_;
    if (at_ == start) fail("\"[\" must introduce explicitly-specified array dimensions.");
    int64_t greatest = text_[start] == '-' ? -int64_t{INT32_MIN} : INT32_MAX;
    int64_t value = 0;
    for (char digit : text_.substr(start, at_ - start)) {
      if (is_digit(digit)) value = std::min(value * 10 + (digit - '0'), greatest);
    }
    return static_cast<int32_t>(text_[start] == '-' ? -value : value);
  }

  // No dimensions: none are written.
  ArrayShape parse_bounds() {
    ArrayShape bounds;
    for (; peek() == '['; skip_space()) {
      if (bounds.dimensions == limits::max_array_dimensions) throw_too_deep(bounds.dimensions + 1);
      ++at_;
      int32_t lower = 1;
      int32_t upper = parse_bound();
      if (peek() == ':') {
        ++at_;
        lower = upper;
        upper = parse_bound();
      }
      if (peek() != ']') fail("Missing \"]\" after array dimensions.");
      ++at_;
      if (upper < lower) {
        throw SqlError(sqlstate::array_subscript_error,
                       "upper bound cannot be less than lower bound");
      }
      bounds.lower_bounds[bounds.dimensions] = lower;
      bounds.lengths[bounds.dimensions++] =
          static_cast<int32_t>(std::min<int64_t>(int64_t{upper} - lower + 1, INT32_MAX));
    }
    if (bounds.dimensions == 0) return bounds;
    if (peek() != '=') fail("Missing \"=\" after array dimensions.");
    ++at_;
    skip_space();
    return bounds;
  }

  void parse_structure() {
    do {
      skip_space();
      if (at_ == text_.size()) fail("Unexpected end of input.");
      char c = text_[at_];
      if (c == '{') {
        open();
      } else if (c == '}') {
        close();
      } else if (c == type_.delimiter) {
        separate();
      } else {
        parse_element();
      }
    } while (level_ > 0);
  }

  void open() {
    if (last_ != Last::opening && last_ != Last::closing_comma) fail_unexpected('{');
    if (level_ == limits::max_array_dimensions) throw_too_deep(level_ + 1);
    counts_[level_++] = 1;
    deepest_ = std::max(deepest_, level_);
    last_ = Last::opening;
    ++at_;
  }

  void close() {
    bool is_empty = level_ == 1 && last_ == Last::opening;
    if (last_ != Last::element && last_ != Last::closing && !is_empty) fail_unexpected('}');
    --level_;
    if (lengths_[level_] != 0 && lengths_[level_] != counts_[level_])
      fail("Multidimensional arrays must have sub-arrays with matching dimensions.");
    lengths_[level_] = counts_[level_];
    last_ = Last::closing;
    ++at_;
  }

  void separate() {
    if (last_ != Last::element && last_ != Last::closing) fail_unexpected(type_.delimiter);
    last_ = last_ == Last::element ? Last::element_comma : Last::closing_comma;
    ++counts_[level_ - 1];
    ++at_;
  }

  void parse_element() {
    if (last_ != Last::opening && last_ != Last::element_comma) fail("Unexpected array element.");
    if (text_[at_] == '"') {
      parse_quoted();
    } else {
      parse_plain();
    }
    last_ = Last::element;
    meter_.did(elements_.back().text.size() + 64);
  }

  void parse_quoted() {
    AskingString item;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size()) item += text_[at_];
    }
    if (at_ >= text_.size()) fail("Unexpected end of input.");
    ++at_;
    append(elements_, {ctx_.arena->copy_string(item)});
  }

  void parse_plain() {
    AskingString item;
    size_t kept = 0;  // length without trailing blanks
    bool escaped = false;
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '}' || c == type_.delimiter) break;
      if (c == '{') fail_unexpected('{');
      if (c == '"') fail("Unexpected array element.");
      bool blank = is_space(c);
      if (c == '\\') {
        escaped = true;
        blank = false;
        if (++at_ == text_.size()) fail("Unexpected end of input.");
        c = text_[at_];
      }
      item += c;
      if (!blank) kept = item.size();
      ++at_;
    }
    item.resize(kept);
    bool null = !escaped && equal_ignoring_case(item, "null");
    append(elements_, {null ? std::string_view() : ctx_.arena->copy_string(item), null});
  }

  ArrayShape shape_of_contents() {
    ArrayShape shape;
    if (elements_.empty()) return shape;
    shape.dimensions = deepest_;
    for (int32_t i = 0; i < deepest_; ++i) {
      shape.lengths[i] = lengths_[i];
      shape.lower_bounds[i] = 1;
    }
    // Braces may be as many everywhere and yet elements at different depths.
    if (shape.count() != elements_.size())
      fail("Multidimensional arrays must have sub-arrays with matching dimensions.");
    return shape;
  }

  void require_bounds_fit(const ArrayShape& bounds, const ArrayShape& shape) {
    if (bounds.dimensions == shape.dimensions &&
        std::equal(bounds.lengths, bounds.lengths + bounds.dimensions, shape.lengths)) {
      return;
    }
    fail("Specified array dimensions do not match array contents.");
  }

  std::span<const Datum> parse_elements() {
    values_.reserve(elements_.size());
    for (const WrittenElement& element : elements_) {
      meter_.did(element.text.size() + 64);
      values_.push_back(element.null ? Datum() : type_.parse(element.text, typmod_, ctx_));
      if (element.null) check_domain(type_, Datum(), ctx_);
    }
    return values_;
  }

  const TypeInfo& type_;
  std::string_view text_;
  // Errors in the contents show them without the dimensions.
  size_t shown_from_ = 0;
  int32_t typmod_;
  TypeContext& ctx_;
  size_t at_ = 0;
  int level_ = 0;    // braces that are open
  int deepest_ = 0;  // most of them so far
  Last last_ = Last::opening;
  // What the innermost but i braces that are open hold so far, and held when they were closed.
  int32_t counts_[limits::max_array_dimensions] = {};
  int32_t lengths_[limits::max_array_dimensions] = {};
  AskingVector<WrittenElement> elements_;
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

Datum parse_array(const TypeInfo& type, std::string_view text, int32_t typmod, TypeContext& ctx) {
  return ArrayParser(element_type(type), text, typmod, ctx).parse();
}

namespace {

void print_bounds(const ArrayShape& shape, ByteBuffer& out) {
  bool usual = std::all_of(shape.lower_bounds, shape.lower_bounds + shape.dimensions,
                           [](int32_t lower) { return lower == 1; });
  if (usual) return;
  for (int32_t i = 0; i < shape.dimensions; ++i) {
    out.append('[');
    out.append_decimal(shape.lower_bounds[i]);
    out.append(':');
    out.append_decimal(int64_t{shape.lower_bounds[i]} + shape.lengths[i] - 1);
    out.append(']');
  }
  out.append('=');
}

// Of how many dimensions, from the innermost, element `position` is the first.
int32_t dimensions_begun(const ArrayShape& shape, uint32_t position) {
  int32_t begun = 0;
  while (begun < shape.dimensions) {
    auto length = static_cast<uint32_t>(shape.lengths[shape.dimensions - 1 - begun]);
    ++begun;
    if (position % length != 0) return begun - 1;
    position /= length;
  }
  return begun;
}

}  // namespace

void print_array(const TypeInfo& type, Datum value, ByteBuffer& out, const TypeContext& ctx) {
  ArrayReader reader(value);
  const TypeInfo& element = element_type(type);
  if (reader.count() == 0) return out.append("{}");
  print_bounds(reader.shape(), out);
  ByteBuffer item;
  WorkMeter meter;
  Datum each;
  for (uint32_t i = 0; reader.next(&each); ++i) {
    int32_t begun = dimensions_begun(reader.shape(), i);
    if (i != 0) {
      for (int32_t n = 0; n < begun; ++n) out.append('}');
      out.append(element.delimiter);
    }
    for (int32_t n = 0; n < begun; ++n) out.append('{');
    meter.did(each.length + 32);
    if (each.null) {
      out.append("NULL");
      continue;
    }
    item.clear();
    element.print(each, item, ctx);
    print_item(item.view(), element.delimiter, out);
  }
  for (int32_t n = 0; n < reader.shape().dimensions; ++n) out.append('}');
}

namespace {

// Throws where the head is not that of an array of `element`.
ArrayShape receive_shape(BinaryReader& reader, const TypeInfo& element) {
  int32_t dimensions = reader.word();
  if (dimensions < 0) throw_malformed(concat("invalid number of dimensions: ", dimensions));
  if (dimensions > limits::max_array_dimensions) {
    throw SqlError(sqlstate::program_limit_exceeded,
                   concat("number of array dimensions (", dimensions,
                          ") exceeds the maximum allowed (", limits::max_array_dimensions, ")"));
  }
  int32_t flags = reader.word();
  if (flags != 0 && flags != 1) throw_malformed("invalid array flags");
  Oid sent = static_cast<Oid>(reader.word());
  // Numbers of other types than built-in ones are no client's to know: then it is the value that
  // counts, as in PostgreSQL.
  constexpr Oid first_unstable = 10'000;  // PostgreSQL: FirstGenbkiObjectId
  if (sent != element.oid && sent < first_unstable && element.oid < first_unstable) {
    throw SqlError(
        sqlstate::datatype_mismatch,
        concat("binary data has array element type ", sent, " (", format_type(sent),
               ") instead of expected ", element.oid, " (", format_type(element.oid), ")"));
  }
  ArrayShape shape;
  shape.dimensions = dimensions;
  for (int32_t i = 0; i < dimensions; ++i) {
    shape.lengths[i] = reader.word();
    shape.lower_bounds[i] = reader.word();
  }
  return shape;
}

}  // namespace

Datum receive_array(const TypeInfo& type, std::string_view bytes, int32_t typmod,
                    TypeContext& ctx) {
  BinaryReader reader(bytes);
  const TypeInfo& element = element_type(type);
  ArrayShape shape = receive_shape(reader, element);
  size_t count = shape.count();
  shape.check_bounds();
  // Every element has a length word: a count beyond that is a lie told to make us allocate.
  if (count > reader.left() / 4) exact_bytes({}, 1);
  AskingVector<Datum> values;
  values.reserve(count);
  while (values.size() < count) {
    int32_t length = reader.word();
    if (length < -1) exact_bytes({}, 1);
    Datum value;
    if (length == -1) check_domain(element, value, ctx);
    if (length >= 0) value = element.receive(reader.take(static_cast<size_t>(length)), typmod, ctx);
    values.push_back(value);
    did_work(value.length + 32);
  }
  if (!reader.at_end()) throw_malformed("incorrect binary data format");
  // An array without elements has no dimensions; vectors begin at 0 all the same.
  if (values.empty()) {
    bool is_vector = shape.dimensions == 1 && shape.lower_bounds[0] == 0;
    shape = is_vector ? ArrayShape::of_vector(0, 0) : ArrayShape();
  }
  return make_array(element, shape, values, *ctx.arena);
}

void send_array(const TypeInfo& type, Datum value, ByteBuffer& out, const TypeContext& ctx) {
  ArrayReader reader(value);
  const TypeInfo& element = element_type(type);
  const ArrayShape& shape = reader.shape();
  size_t start = out.size();
  out.append_be32(static_cast<uint32_t>(shape.dimensions));
  out.append_be32(0);
  out.append_be32(reader.element());
  for (int32_t i = 0; i < shape.dimensions; ++i) {
    out.append_be32(static_cast<uint32_t>(shape.lengths[i]));
    out.append_be32(static_cast<uint32_t>(shape.lower_bounds[i]));
  }
  Datum each;
  WorkMeter meter;
  while (reader.next(&each)) {
    size_t length_at = out.size();
    out.append_be32(UINT32_MAX);
    if (each.null) {
      out.patch_be32(start + 4, 1);
      continue;
    }
    element.send(each, out, ctx);
    meter.did(out.size() - length_at);
    out.patch_be32(length_at, static_cast<uint32_t>(out.size() - length_at - 4));
  }
}

Datum apply_array_typmod(const TypeInfo& type, Datum value, int32_t typmod, bool explicit_cast,
                         TypeContext& ctx) {
  const TypeInfo& element = element_type(type);
  if (!element.has_typmods()) return value;
  ArrayReader reader(value);
  AskingVector<Datum> values;
  values.reserve(reader.count());
  Datum each;
  WorkMeter meter;
  while (reader.next(&each)) {
    meter.did(64);
    if (!each.null) each = element.apply_typmod(each, typmod, explicit_cast, ctx);
    values.push_back(each);
  }
  return make_array(element, reader.shape(), values, *ctx.arena);
}

Datum parse_int2vector(const TypeInfo&, std::string_view text, int32_t, TypeContext& ctx) {
  return parse_vector(type_oid::int2, text, ctx);
}

Datum parse_oidvector(const TypeInfo&, std::string_view text, int32_t, TypeContext& ctx) {
  return parse_vector(type_oid::oid, text, ctx);
}

void print_vector(const TypeInfo& type, Datum value, ByteBuffer& out, const TypeContext& ctx) {
  ArrayReader reader(value);
  Datum each;
  for (bool first = true; reader.next(&each); first = false) {
    if (!first) out.append(' ');
    element_type(type).print(each, out, ctx);
  }
}

}  // namespace pgsilo::types
