// format(): %s, %I, %L with positions, flags and widths.
#include <algorithm>
#include <string>

#include "base/byte_buffer.h"
#include "base/long_work.h"
#include "executor/functions/function.h"
#include "sql/sql_error.h"
#include "sql/types/scan.h"
#include "sql/types/text.h"
#include "sql/types/type.h"

namespace pgsilo::functions {
namespace {

using std::string_view;

class Formatter {
 public:
  Formatter(EvalContext& context, const Datum* arguments)
      : context_(context), arguments_(arguments), count_(context.call->argument_types.size()) {}

  string_view format(string_view pattern) {
    while (!pattern.empty()) {
      size_t literal = std::min(pattern.find('%'), pattern.size());
      append(pattern.substr(0, literal));
      pattern.remove_prefix(literal);
      if (pattern.empty()) break;
      pattern.remove_prefix(1);
      if (!pattern.empty() && pattern.front() == '%') {
        append("%");
        pattern.remove_prefix(1);
      } else {
        specifier(pattern);
      }
    }
    return copy_value(out_.view(), *context_.arena);
  }

 private:
  [[noreturn]] static void fail(std::string message) {
    throw SqlError(sqlstate::invalid_parameter_value, std::move(message));
  }
  static bool take_number(string_view& text, int64_t* value) {
    size_t length = 0;
    *value = 0;
    for (; length < text.size() && is_digit(text[length]); ++length) {
      *value = *value * 10 + (text[length] - '0');
      if (*value > INT32_MAX)
        throw SqlError(sqlstate::numeric_value_out_of_range, "number is out of range");
    }
    text.remove_prefix(length);
    return length > 0;
  }
  static void need(string_view text) {
    if (!text.empty()) return;
    throw SqlError(sqlstate::invalid_parameter_value, "unterminated format() type specifier")
        .hint("For a single \"%\" use \"%%\".");
  }
  size_t argument(int64_t position) {
    if (position == 0) fail("format specifies argument 0, but arguments are numbered from 1");
    if (static_cast<size_t>(position) >= count_) fail("too few arguments for format()");
    return static_cast<size_t>(position);
  }

  // [position$][-][width|*|*n$]type
  void specifier(string_view& text) {
    need(text);
    int64_t number;
    int64_t position = -1;
    int64_t width = 0;
    bool left = false;
    bool width_read = false;
    if (take_number(text, &number)) {
      need(text);
      if (text.front() == '$') {
        position = number;
        argument(position);
        text.remove_prefix(1);
        need(text);
      } else {
        width = number;
        width_read = true;
      }
    }
    while (!width_read && text.front() == '-') {
      left = true;
      text.remove_prefix(1);
      need(text);
    }
    if (!width_read) read_width(text, &width, &left);
    need(text);
    char type = text.front();
    text.remove_prefix(1);
    if (type != 's' && type != 'I' && type != 'L') {
      throw SqlError(sqlstate::invalid_parameter_value,
                     concat("unrecognized format() type specifier \"", type, "\""))
          .hint("For a single \"%\" use \"%%\".");
    }
    if (position > 0) next_ = position;
    size_t index = argument(next_++);
    append(converted(type, index), width, left);
  }
  // Whatever it is of, a width is what its text says.
  int64_t width_of(size_t index) const {
    Oid type = context_.call->argument_types[index];
    int64_t width = arguments_[index].i64;
    if (type != type_oid::int4 && type != type_oid::int2) {
      ByteBuffer text;
      const TypeInfo& info = type_info(type == type_oid::unknown ? type_oid::text : type);
      info.print(arguments_[index], text, *context_.types);
      width = type_info(type_oid::int4).parse(text.view(), no_typmod, *context_.types).i64;
    }
    if (width != INT32_MIN) return width;
    throw SqlError(sqlstate::numeric_value_out_of_range, "number is out of range");
  }
  void read_width(string_view& text, int64_t* width, bool* left) {
    if (text.front() == '*') {
      text.remove_prefix(1);
      need(text);
      int64_t number;
      int64_t position = next_;
      if (take_number(text, &number)) {
        need(text);
        if (text.front() != '$') fail("width argument position must be ended by \"$\"");
        text.remove_prefix(1);
        position = number;
      }
      size_t index = argument(position);
      next_ = position + 1;
      *width = arguments_[index].null ? 0 : width_of(index);
      if (*width < 0) {
        *left = true;
        *width = -*width;
      }
    } else {
      take_number(text, width);
    }
  }

  string_view converted(char type, size_t index) {
    if (arguments_[index].null) {
      if (type == 'I') {
        throw SqlError(sqlstate::null_value_not_allowed,
                       "null values cannot be formatted as an SQL identifier");
      }
      return type == 'L' ? "NULL" : "";
    }
    Oid oid = context_.call->argument_types[index];
    const TypeInfo& info = type_info(oid == type_oid::unknown ? type_oid::text : oid);
    text_.clear();
    info.print(arguments_[index], text_, *context_.types);
    if (type == 'I') return quote_identifier(text_.view(), *context_.arena);
    if (type == 'L') return quote_literal(text_.view(), *context_.arena);
    return text_.view();
  }
  void append(string_view text, int64_t width, bool left) {
    int64_t padding = std::max<int64_t>(0, width - (width > 0 ? text_length(text) : 0));
    if (!left) pad(padding);
    append(text);
    if (left) pad(padding);
  }
  void append(string_view text) {
    out_.commit_to(copy_value(out_.reserve(text.size()), text));
    meter_.did(text.size() + 16);
  }
  void pad(int64_t count) {
    if (count == 0) return;
    auto bytes = static_cast<size_t>(count);
    out_.commit_to(fill_value(out_.reserve(bytes), ' ', bytes));
  }

  EvalContext& context_;
  const Datum* arguments_;
  size_t count_;  // with the pattern, which is argument 0
  int64_t next_ = 1;
  ByteBuffer text_;  // of the last argument that was printed
  ByteBuffer out_;
  WorkMeter meter_;
};

Datum format(EvalContext& context, const Datum* a) {
  if (a[0].null) return Datum();
  return Datum::of_bytes(Formatter(context, a).format(a[0].bytes()));
}

constexpr FunctionEntry entries[] = {{3539, format}, {3540, format}};

}  // namespace

std::span<const FunctionEntry> text_format() { return entries; }

}  // namespace pgsilo::functions
