// interval from text: PostgreSQL's and the SQL standard's forms; ISO 8601 is in
// interval_parse_iso.cpp.
#include <charconv>
#include <cmath>

#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "sql/types/date_time_decode.h"
#include "sql/types/date_time_words.h"
#include "sql/types/interval_builder.h"
#include "sql/types/interval_internal.h"

namespace pgsilo {

namespace {

// A set of units.
using Units = uint32_t;
constexpr Units bit(TimeUnit unit) { return 1u << static_cast<int>(unit); }
constexpr Units all_seconds =
    bit(TimeUnit::second) | bit(TimeUnit::millisecond) | bit(TimeUnit::microsecond);
constexpr Units clock_units = all_seconds | bit(TimeUnit::minute) | bit(TimeUnit::hour);

// Reads the fields from the last to the first, so that units are known before their numbers.
class IntervalDecoder {
 public:
  IntervalDecoder(const InputFields& input, int32_t typmod, IntervalStyle style)
      : input_(input), fields_(interval_fields(typmod)) {
    // In the SQL standard's style a leading minus is for all fields, unless another has its own
    // sign.
    force_negative_ = style == IntervalStyle::sql_standard && input.count > 0 &&
                      input.fields[0].text.starts_with('-');
    for (size_t i = 1; i < input.count; ++i) {
      char first = input.fields[i].text[0];
      if (first == '-' || first == '+') force_negative_ = false;
    }
  }

  DecodeStatus decode(IntervalBuilder* result) {
    for (size_t i = input_.count; i-- > 0;) {
      given_ = 0;
      DecodeStatus status = decode_field(input_.fields[i]);
      if (status != DecodeStatus::ok) return status;
      if ((given_ & seen_) != 0) return DecodeStatus::bad_format;
      seen_ |= given_;
    }
    if (seen_ == 0) return DecodeStatus::bad_format;
    if (ago_ && !builder_.negate()) return DecodeStatus::field_overflow;
    *result = builder_;
    return DecodeStatus::ok;
  }

 private:
  DecodeStatus decode_field(const InputField& field) {
    switch (field.kind) {
      case FieldKind::time:
        return decode_clock(field.text, false);
      case FieldKind::zone:
        if (field.text.find(':') != std::string_view::npos) {
          IntervalBuilder before = builder_;
          DecodeStatus status = decode_clock(field.text.substr(1), field.text[0] == '-');
          if (status == DecodeStatus::ok) return status;
          builder_ = before;
          given_ = 0;
        }
        return decode_number(field.text);
      case FieldKind::date:
      case FieldKind::number:
        return decode_number(field.text);
      case FieldKind::word:
      case FieldKind::special:
        return decode_unit(field.text);
    }
    __builtin_unreachable();
  }

  DecodeStatus decode_unit(std::string_view text) {
    TimeUnit unit = find_interval_unit(text);
    if (unit == TimeUnit::unknown) return DecodeStatus::bad_format;
    if (unit == TimeUnit::ago) {
      ago_ = true;
    }
    unit_ = unit;
    return DecodeStatus::ok;
  }

  // What a number without a unit counts: the least field of the modifier, else seconds.
  TimeUnit default_unit() const {
    if (fields_ == interval_all_fields || (fields_ & interval_field_second) != 0) {
      return TimeUnit::second;
    }
    if ((fields_ & interval_field_minute) != 0) return TimeUnit::minute;
    if ((fields_ & interval_field_hour) != 0) return TimeUnit::hour;
    if ((fields_ & interval_field_day) != 0) return TimeUnit::day;
    return (fields_ & interval_field_month) != 0 ? TimeUnit::month : TimeUnit::year;
  }

  DecodeStatus decode_number(std::string_view text) {
    if (unit_ == TimeUnit::unknown) unit_ = default_unit();
    bool negative = text[0] == '-';
    std::string_view digits = text[0] == '+' ? text.substr(1) : text;
    int64_t value = 0;
    auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range) return DecodeStatus::field_overflow;
    std::string_view rest = digits.substr(static_cast<size_t>(stop - digits.data()));
    // ".5" and "-.5" have no whole part.
    if (error != std::errc() && negative) rest.remove_prefix(1);
    double fraction = 0;
    if (rest.starts_with('-')) {
      // Years and months of the SQL standard: 1-2.
      int32_t months = 0;
      auto [end, bad] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), months);
      if (bad == std::errc::result_out_of_range || months < 0 || months >= months_per_year) {
        return DecodeStatus::field_overflow;
      }
      if (end != rest.data() + rest.size()) return DecodeStatus::bad_format;
      unit_ = TimeUnit::month;
      if (__builtin_mul_overflow(value, int64_t{months_per_year}, &value) ||
          __builtin_add_overflow(value, negative ? -months : months, &value)) {
        return DecodeStatus::field_overflow;
      }
    } else if (rest.starts_with('.')) {
      if (!parse_interval_fraction(rest, &fraction)) return DecodeStatus::bad_format;
      if (negative) fraction = -fraction;
    } else if (!rest.empty() || error != std::errc()) {
      return DecodeStatus::bad_format;
    }
    if (force_negative_) {
      if (value > 0) value = -value;
      if (fraction > 0) fraction = -fraction;
    }
    TimeUnit unit = unit_;
    given_ = unit == TimeUnit::second && fraction != 0 ? all_seconds : bit(unit);
    // A number before hours is days: "1 2 hours".
    if (unit == TimeUnit::hour) unit_ = TimeUnit::day;
    return builder_.add(unit, value, fraction);
  }

  // hh:mm, hh:mm:ss, with fractions; mm:ss where the modifier says MINUTE TO SECOND.
  DecodeStatus decode_clock(std::string_view text, bool negative) {
    int64_t parts[3] = {0, 0, 0};
    int count = 0;
    std::string_view rest = text;
    while (true) {
      auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), parts[count]);
      if (error == std::errc::result_out_of_range) return DecodeStatus::field_overflow;
      if (error != std::errc()) return DecodeStatus::bad_format;
      rest.remove_prefix(static_cast<size_t>(stop - rest.data()));
      if (++count == 3 || !rest.starts_with(':')) break;
      rest.remove_prefix(1);
    }
    int32_t microseconds = 0;
    bool has_fraction = rest.starts_with('.');
    if (has_fraction ? !parse_fraction(rest, &microseconds) : !rest.empty()) {
      return DecodeStatus::bad_format;
    }
    if (count < 2) return DecodeStatus::bad_format;
    bool minute_to_second = fields_ == (interval_field_minute | interval_field_second);
    if (count == 2 && (has_fraction || minute_to_second)) {
      parts[2] = parts[1];
      parts[1] = parts[0];
      parts[0] = 0;
    }
    bool in_range =
        parts[0] >= 0 && parts[1] >= 0 && parts[1] <= 59 && parts[2] >= 0 && parts[2] <= 60;
    if (!in_range) return DecodeStatus::field_overflow;
    given_ = clock_units;
    unit_ = TimeUnit::day;
    IntervalBuilder time;
    if (time.add(TimeUnit::hour, parts[0], 0) != DecodeStatus::ok ||
        time.add(TimeUnit::minute, parts[1], 0) != DecodeStatus::ok ||
        time.add(TimeUnit::second, parts[2], 0) != DecodeStatus::ok ||
        time.add(TimeUnit::microsecond, microseconds, 0) != DecodeStatus::ok) {
      return DecodeStatus::field_overflow;
    }
    int64_t sign = negative || force_negative_ ? -1 : 1;
    return builder_.add(TimeUnit::microsecond, sign * time.time(), 0);
  }

  const InputFields& input_;
  int fields_;
  bool force_negative_;
  bool ago_ = false;
  TimeUnit unit_ = TimeUnit::unknown;
  Units seen_ = 0;
  Units given_ = 0;
  IntervalBuilder builder_;
};

}  // namespace

bool parse_interval_fraction(std::string_view text, double* fraction) {
  *fraction = 0;
  if (text.size() == 1) return true;
  auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), *fraction, std::chars_format::fixed);
  return error == std::errc() && stop == text.data() + text.size();
}

Interval parse_interval(std::string_view text, int32_t typmod, IntervalStyle style) {
  InputFields input;
  IntervalBuilder builder;
  DecodeStatus status = input.split(text);
  if (status == DecodeStatus::ok) status = IntervalDecoder(input, typmod, style).decode(&builder);
  if (status == DecodeStatus::bad_format) status = decode_iso_interval(text, &builder);
  if (status == DecodeStatus::field_overflow) status = DecodeStatus::interval_overflow;
  if (status != DecodeStatus::ok) throw_decode_error(status, "interval", text, {});
  return interval_apply_typmod(builder.finish(), typmod);
}

}  // namespace pgsilo
