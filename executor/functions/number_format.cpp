// to_char of numbers, and the entries of to_number.
//
// A number is rounded to the places of the template's picture and laid over it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/asking_allocator.h"
#include "base/byte_buffer.h"
#include "base/long_work.h"
#include "executor/functions/function.h"
#include "executor/functions/number_picture.h"
#include "executor/functions/number_reading.h"
#include "executor/functions/roman_numerals.h"
#include "sql/sql_error.h"
#include "sql/types/integer.h"
#include "sql/types/numeric.h"
#include "sql/types/scan.h"

namespace pgsilo::functions {
namespace {

using std::string_view;

using Place = NumberPicture::Place;

// Of the other places those stay that do not show the number itself: as blanks, without FM. SG ends
// all, as in PostgreSQL, which has no sign to print there.
AskingString with_roman(const NumberPicture& picture, int64_t number) {
  AskingString text;
  for (const NumberPicture::Node& node : picture.nodes) {
    switch (node.place) {
      case Place::roman:
        text += roman_numeral(number, !picture.fill_mode, node.lower);
        break;
      case Place::literal:
        text += node.text;
        break;
      case Place::comma:
      case Place::minus:
      case Place::plus:
        if (!picture.fill_mode) text += ' ';
        break;
      case Place::currency:
        text += ' ';
        break;
      case Place::both_signs:
        return text;
      default:
        break;
    }
  }
  return text;
}

// A number as plain digits: "-12.50" is negative, "12", "50". "NaN" and "Infinity" stand where
// digits do.
struct Digits {
  bool negative = false;
  std::string before;
  std::string after;
  bool finite = true;
  int places = std::numeric_limits<int>::max();  // that a float vouches for after the point
};

Digits digits_of(string_view text) {
  Digits digits;
  if (text.front() == '-') {
    digits.negative = true;
    text.remove_prefix(1);
  }
  digits.finite = is_digit(text.front());
  size_t point = text.find('.');
  digits.before = text.substr(0, point);
  if (point != string_view::npos) digits.after = text.substr(point + 1);
  if (digits.before == "0") digits.before.clear();
  bool zero = digits.before.empty() && digits.after.find_first_not_of('0') == string_view::npos;
  if (zero) digits.negative = false;
  return digits;
}

// As C prints a float, half to even of what it holds, with no more digits than its type vouches
// for. A zero keeps its sign.
Digits digits_of_float(double value, int significant, int places) {
  char text[400];
  auto whole = std::snprintf(text, sizeof text, "%.0f", std::fabs(value));
  places = whole >= significant ? 0 : std::min(places, significant - whole);
  std::snprintf(text, sizeof text, "%.*f", places, value);
  Digits digits = digits_of(text);
  digits.negative = text[0] == '-';
  digits.places = places;
  return digits;
}

// Lays the digits over the picture.
class Painter {
 public:
  Painter(const NumberPicture& picture, const Digits& digits)
      : picture_(picture), digits_(digits) {}

  AskingString paint() {
    // Nothing before the point is a zero there: '.9' has no room for 0.5.
    overflow_ = std::max(static_cast<int>(digits_.before.size()), 1) > picture_.before;
    first_shown_ = picture_.before - static_cast<int>(digits_.before.size());
    if (picture_.first_zero >= 0) first_shown_ = std::min(first_shown_, picture_.first_zero);
    after_ = std::min(picture_.after, digits_.places);
    trailing_kept_ = after_;
    if (picture_.fill_mode && !overflow_) trim_trailing();
    // A lone zero shows when no other digit would.
    bool zero_only = digits_.before.empty() && picture_.first_zero < 0;
    bool fraction_shows = picture_.after > 0 && (!picture_.fill_mode || trailing_kept_ > 0);
    if (zero_only && picture_.before > 0 && !fraction_shows) first_shown_ = picture_.before - 1;
    if (overflow_) first_shown_ = 0;
    has_number_ = shows_number();
    place_inner_sign();
    WorkMeter meter;
    for (const NumberPicture::Node& node : picture_.nodes) {
      meter.did(64);
      // As in PostgreSQL what has no digits behind the point ends there, and the picture with it.
      bool ends = !digits_.finite || after_ == 0;
      if (node.place == Place::point && ends && !overflow_) return std::move(out_);
      paint_node(node);
      if (after_ < picture_.after && after_point_ && fraction_ == after_) {
        // So does a float behind its last digit, but for what goes with that.
        if (sign_behind_ || signs_later(node)) out_ += digits_.negative ? '-' : '+';
        break;
      }
    }
    if (picture_.brackets && has_number_) {
      if (digits_.negative) {
        out_ += '>';
      } else if (!picture_.fill_mode) {
        out_ += ' ';
      }
    }
    return std::move(out_);
  }

 private:
  // Without a place for digits there is nothing to sign.
  bool shows_number() const {
    return std::ranges::any_of(picture_.nodes, [](const NumberPicture::Node& node) {
      return node.place == Place::digit || node.place == Place::zero || node.place == Place::point;
    });
  }

  bool signs_later(const NumberPicture::Node& last) const {
    return std::any_of(&last, picture_.nodes.data() + picture_.nodes.size(),
                       [](const NumberPicture::Node& node) { return node.place == Place::sign; });
  }

  // An S among the digits is not shown there: before the point it stands next to the first digit,
  // behind it next to the last one.
  void place_inner_sign() {
    sign_pending_ = picture_.sign_at_before > 0 && picture_.sign_at_before < picture_.before;
    sign_behind_ = picture_.sign_at_after >= 0 && picture_.sign_at_after < picture_.after;
    sign_is_placed_ = sign_pending_ || sign_behind_;
  }

  // FM drops zeros at the end of the fraction where the template has 9s.
  void trim_trailing() {
    std::vector<bool> forced;
    bool after_point = false;
    for (const NumberPicture::Node& node : picture_.nodes) {
      if (node.place == Place::point) after_point = true;
      if (after_point && (node.place == Place::digit || node.place == Place::zero)) {
        forced.push_back(node.place == Place::zero);
      }
    }
    while (trailing_kept_ > 0 && !forced[static_cast<size_t>(trailing_kept_ - 1)] &&
           fraction_digit(trailing_kept_ - 1) == '0') {
      --trailing_kept_;
    }
  }
  char fraction_digit(int index) const {
    return index < static_cast<int>(digits_.after.size())
               ? digits_.after[static_cast<size_t>(index)]
               : '0';
  }

  // The sign that stands before the first digit when the template names none.
  void open_sign() {
    if (sign_done_) return;
    sign_done_ = true;
    if (picture_.brackets) {
      if (digits_.negative) {
        out_ += '<';
      } else if (!picture_.fill_mode) {
        out_ += ' ';
      }
    } else if (digits_.negative) {
      out_ += '-';
    } else if (!picture_.fill_mode) {
      out_ += ' ';
    }
  }

  void show_pending_sign() {
    if (!sign_pending_) return;
    sign_pending_ = false;
    out_ += digits_.negative ? '-' : '+';
  }

  void paint_node(const NumberPicture::Node& node) {
    switch (node.place) {
      case Place::digit:
      case Place::zero:
        return paint_digit();
      case Place::point:
        if (!picture_.sign_named) open_sign();
        show_pending_sign();
        after_point_ = true;
        out_ += '.';
        return;
      case Place::comma:
        if (place_ > first_shown_ || after_point_) {
          out_ += ',';
        } else if (!picture_.fill_mode) {
          out_ += ' ';
        }
        return;
      case Place::currency:
        if (!picture_.fill_mode) out_ += ' ';
        return;
      case Place::minus:
        if (digits_.negative) {
          out_ += '-';
        } else if (!picture_.fill_mode) {
          out_ += ' ';
        }
        return;
      case Place::plus:
        if (!digits_.negative) {
          out_ += '+';
        } else if (!picture_.fill_mode) {
          out_ += ' ';
        }
        return;
      case Place::both_signs:
        out_ += digits_.negative ? '-' : '+';
        return;
      case Place::sign:
        if (sign_is_placed_) return;
        // Right before the point it goes behind all digits; a leading S stands next to the first.
        if (place_ == picture_.before && !after_point_ && picture_.after > 0) {
          sign_behind_ = true;
          return;
        }
        if (place_ == 0 && picture_.before > 0) {
          sign_pending_ = true;
        } else if (has_number_) {
          out_ += digits_.negative ? '-' : '+';
        }
        return;
      case Place::ordinal:
        return paint_ordinal(node.lower);
      case Place::roman:
        return;  // with_roman()
      case Place::literal:
        out_ += node.text;
        return;
    }
  }

  void paint_digit() {
    if (after_point_) {
      if (fraction_ < trailing_kept_) out_ += overflow_ ? '#' : fraction_digit(fraction_);
      ++fraction_;
      if (sign_behind_ && fraction_ == picture_.after) out_ += digits_.negative ? '-' : '+';
      return;
    }
    if (place_ < first_shown_) {
      ++place_;
      if (!picture_.fill_mode) out_ += ' ';
      // With no digit at all before the point the sign goes to the last place.
      if (place_ == picture_.before && !picture_.sign_named) open_sign();
      return;
    }
    show_pending_sign();
    if (!picture_.sign_named) open_sign();
    int index = place_ - (picture_.before - static_cast<int>(digits_.before.size()));
    out_ += overflow_ ? '#' : index < 0 ? '0' : digits_.before[static_cast<size_t>(index)];
    ++place_;
  }

  void paint_ordinal(bool lower) {
    if (digits_.negative || picture_.after > 0 || (overflow_ && has_number_)) return;
    if (!digits_.finite || !has_number_) {
      throw SqlError(sqlstate::invalid_text_representation,
                     concat("\"", has_number_ ? digits_.before : ".", "\" is not a number"));
    }
    int last = 0;
    for (char digit :
         digits_.before.substr(digits_.before.size() > 2 ? digits_.before.size() - 2 : 0)) {
      last = last * 10 + (digit - '0');
    }
    const char* suffix = "TH";
    if (last < 11 || last > 13) {
      suffix = last % 10 == 1 ? "ST" : last % 10 == 2 ? "ND" : last % 10 == 3 ? "RD" : "TH";
    }
    for (const char* c = suffix; *c != 0; ++c) out_ += lower ? lower_letter(*c) : *c;
  }

  const NumberPicture& picture_;
  const Digits& digits_;
  AskingString out_;
  int place_ = 0;     // digit places passed before the point
  int fraction_ = 0;  // and after it
  int first_shown_ = 0;
  int trailing_kept_ = 0;
  int after_ = 0;  // places after the point that there are digits for
  bool after_point_ = false;
  bool sign_done_ = false;
  bool sign_pending_ = false;
  bool sign_behind_ = false;
  bool sign_is_placed_ = false;  // wherever the picture has it
  bool overflow_ = false;
  bool has_number_ = false;
};

Datum formatted(EvalContext& context, Datum value, string_view pattern) {
  if (pattern.empty()) return Datum::of_bytes({});
  Arena& arena = *context.arena;
  NumberPicture picture = read_number_picture(pattern);
  bool finite = !numeric_is_nan(value) && !numeric_is_infinite(value);
  if (picture.roman) {
    double number = finite ? numeric_to_float8(numeric_round(value, 0, arena)) : 0;
    int64_t whole = std::fabs(number) < 1e9 ? static_cast<int64_t>(number) : 0;
    return Datum::of_bytes(arena.copy_string(with_roman(picture, whole)));
  }
  if (picture.exponent && !finite) {
    AskingString filled(" ");
    filled.append(static_cast<size_t>(picture.before), '#').append(1, '.');
    filled.append(static_cast<size_t>(picture.after) + 4, '#');
    return Datum::of_bytes(arena.copy_string(filled));
  }
  if (picture.exponent) {
    char text[64];
    std::snprintf(text, sizeof text, "%s%.*e",
                  numeric_to_float8(value) < 0 || picture.fill_mode ? "" : " ", picture.after,
                  numeric_to_float8(value));
    return Datum::of_bytes(arena.copy_string(text));
  }
  if (finite && picture.shifted > 0) {
    Datum factor = numeric_power(numeric_from_integer(10, arena),
                                 numeric_from_integer(picture.shifted, arena), arena);
    value = numeric_mul(value, factor, arena);
  }
  if (finite) value = numeric_round(value, picture.after, arena);
  ByteBuffer text;
  print_numeric(value, text);
  Digits digits = digits_of(text.view());
  return Datum::of_bytes(copy_value(Painter(picture, digits).paint(), arena));
}

Datum float_to_char(EvalContext& context, double value, int significant, string_view pattern) {
  Arena& arena = *context.arena;
  NumberPicture picture = read_number_picture(pattern);
  bool plain = !pattern.empty() && !picture.roman && !picture.exponent;
  if (plain) {
    // In the precision of its type.
    bool single = significant == std::numeric_limits<float>::digits10;
    double factor = std::pow(10, picture.shifted);
    value = single ? static_cast<float>(value) * static_cast<float>(factor) : value * factor;
  }
  if (!plain || !std::isfinite(value))
    return formatted(context, numeric_from_float8(value, arena), pattern);
  Digits digits = digits_of_float(value, significant, picture.after);
  return Datum::of_bytes(copy_value(Painter(picture, digits).paint(), arena));
}

Datum numeric_to_char(EvalContext& context, const Datum* a) {
  bool nan = numeric_is_nan(a[0]);
  if ((nan || numeric_is_infinite(a[0])) && read_number_picture(a[1].bytes()).roman)
    throw SqlError(sqlstate::feature_not_supported,
                   concat("cannot convert ", nan ? "NaN" : "infinity", " to integer"));
  return formatted(context, a[0], a[1].bytes());
}
// Places behind V multiply the number, in its own type.
template <typename Integer>
Datum integer_to_char(EvalContext& context, const Datum* a) {
  NumberPicture picture = read_number_picture(a[1].bytes());
  auto value = static_cast<Integer>(a[0].i64);
  for (int i = 0; i < picture.shifted; ++i) {
    if (__builtin_mul_overflow(value, Integer{10}, &value))
      throw_integer_out_of_range(sizeof(Integer));
  }
  return formatted(context, numeric_from_integer(a[0].i64, *context.arena), a[1].bytes());
}
Datum float8_to_char(EvalContext& context, const Datum* a) {
  return float_to_char(context, a[0].f64, std::numeric_limits<double>::digits10, a[1].bytes());
}
Datum float4_to_char(EvalContext& context, const Datum* a) {
  return float_to_char(context, a[0].f64, std::numeric_limits<float>::digits10, a[1].bytes());
}

constexpr FunctionEntry entries[] = {
    {1772, numeric_to_char}, {1773, integer_to_char<int32_t>}, {1774, integer_to_char<int64_t>},
    {1775, float4_to_char},  {1776, float8_to_char},           {1777, text_to_number},
};

}  // namespace

std::span<const FunctionEntry> number_format() { return entries; }

}  // namespace pgsilo::functions
