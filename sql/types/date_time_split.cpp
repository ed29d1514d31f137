// Cutting date and time input into fields.
#include <charconv>
#include <cmath>

#include "sql/sql_error.h"
#include "sql/types/date_time_decode.h"
#include "sql/types/date_time_words.h"
#include "sql/types/scan.h"

namespace pgsilo {

namespace {

bool is_punctuation(char c) { return c > ' ' && c < 0x7f && !is_digit(c) && !is_letter(c); }

// Copies characters of the current field into storage while some condition holds.
class Cutter {
 public:
  Cutter(std::string_view text, char* storage, size_t room)
      : at_(text.data()), end_(at_ + text.size()), to_(storage), room_end_(storage + room) {}

  bool at_end() const { return at_ == end_; }
  char peek() const { return at_ == end_ ? '\0' : *at_; }
  void skip() { ++at_; }
  void start() { start_ = to_; }
  // False (once and for all) when the input is too long.
  void take() {
    if (to_ == room_end_) {
      overflow_ = true;
    } else {
      *to_++ = lower_letter(*at_);
    }
    ++at_;
  }
  template <typename Condition>
  void take_while(Condition condition) {
    while (at_ != end_ && condition(*at_)) take();
  }
  std::string_view field() const { return {start_, static_cast<size_t>(to_ - start_)}; }
  bool overflow() const { return overflow_; }

 private:
  const char* at_;
  const char* end_;
  char* to_;
  char* room_end_;
  char* start_ = nullptr;
  bool overflow_ = false;
};

FieldKind cut_digits(Cutter& cutter) {
  cutter.take_while(is_digit);
  char next = cutter.peek();
  if (next == ':') {
    cutter.take_while([](char c) { return is_digit(c) || c == ':' || c == '.'; });
    return FieldKind::time;
  }
  if (next != '-' && next != '/' && next != '.') return FieldKind::number;
  // A date with its parts joined; the same separator must come twice to make three parts of digits.
  cutter.take();
  if (!is_digit(cutter.peek())) {
    cutter.take_while([&](char c) { return is_letter(c) || is_digit(c) || c == next; });
    return FieldKind::date;
  }
  cutter.take_while(is_digit);
  if (cutter.peek() == next) {
    cutter.take_while([&](char c) { return is_digit(c) || c == next; });
    return FieldKind::date;
  }
  return next == '.' ? FieldKind::number : FieldKind::date;
}

FieldKind cut_letters(Cutter& cutter) {
  cutter.take_while(is_letter);
  char next = cutter.peek();
  bool joined = next == '-' || next == '/' || next == '.';
  // "gmt+3" is one field, "jan5" two.
  if (next == '+' || is_digit(next)) {
    joined = find_word(cutter.field()).kind == WordKind::unknown;
  }
  if (!joined) return FieldKind::word;
  cutter.take_while([](char c) {
    return c == '+' || c == '-' || c == '/' || c == '_' || c == '.' || c == ':' || is_letter(c) ||
           is_digit(c);
  });
  return FieldKind::date;
}

bool cut_signed(Cutter& cutter, FieldKind* kind) {
  cutter.take();
  while (is_space(cutter.peek())) cutter.skip();
  if (is_digit(cutter.peek())) {
    *kind = FieldKind::zone;
    cutter.take_while([](char c) { return is_digit(c) || c == ':' || c == '.' || c == '-'; });
    return true;
  }
  *kind = FieldKind::special;
  cutter.take_while(is_letter);
  return cutter.field().size() > 1;
}

}  // namespace

DecodeStatus InputFields::split(std::string_view text) {
  Cutter cutter(text, storage_, sizeof storage_);
  while (!cutter.at_end()) {
    char next = cutter.peek();
    if (is_space(next)) {
      cutter.skip();
      continue;
    }
    cutter.start();
    FieldKind kind = FieldKind::number;
    if (is_digit(next)) {
      kind = cut_digits(cutter);
    } else if (next == '.') {
      cutter.take();
      cutter.take_while(is_digit);
    } else if (is_letter(next)) {
      kind = cut_letters(cutter);
    } else if (next == '+' || next == '-') {
      if (!cut_signed(cutter, &kind)) return DecodeStatus::bad_format;
    } else if (is_punctuation(next)) {
      cutter.skip();
      continue;
    } else {
      return DecodeStatus::bad_format;
    }
    if (cutter.overflow() || count == max_input_fields) return DecodeStatus::bad_format;
    fields[count++] = {kind, cutter.field()};
  }
  return DecodeStatus::ok;
}

bool parse_fraction(std::string_view text, int32_t* microseconds) {
  if (text.empty() || text[0] != '.') return false;
  *microseconds = 0;
  if (text.size() == 1) return true;
  for (char c : text.substr(1)) {
    if (!is_digit(c)) return false;
  }
  // Through a double, like PostgreSQL, so that ties round alike.
  double fraction = 0;
  std::from_chars(text.data(), text.data() + text.size(), fraction);
  *microseconds = static_cast<int32_t>(std::rint(fraction * 1e6));
  return true;
}

void throw_decode_error(DecodeStatus status, std::string_view type_name, std::string_view text,
                        std::string_view bad_zone) {
  switch (status) {
    case DecodeStatus::field_overflow:
      throw SqlError(sqlstate::datetime_field_overflow,
                     concat("date/time field value out of range: \"", text, "\""));
    case DecodeStatus::month_day_overflow:
      throw SqlError(sqlstate::datetime_field_overflow,
                     concat("date/time field value out of range: \"", text, "\""))
          .hint("Perhaps you need a different \"datestyle\" setting.");
    case DecodeStatus::interval_overflow:
      throw SqlError(sqlstate::interval_field_overflow,
                     concat("interval field value out of range: \"", text, "\""));
    case DecodeStatus::zone_overflow:
      throw SqlError(sqlstate::invalid_time_zone_displacement_value,
                     concat("time zone displacement out of range: \"", text, "\""));
    case DecodeStatus::bad_zone:
      throw SqlError(sqlstate::invalid_parameter_value,
                     concat("time zone \"", bad_zone, "\" not recognized"));
    case DecodeStatus::ok:
    case DecodeStatus::bad_format:
      break;
  }
  throw SqlError(sqlstate::invalid_datetime_format,
                 concat("invalid input syntax for type ", type_name, ": \"", text, "\""));
}

}  // namespace pgsilo
