// Building intervals unit by unit, and ISO 8601's forms of them.
#include <charconv>
#include <cmath>

#include "sql/types/date_time.h"
#include "sql/types/interval_builder.h"
#include "sql/types/interval_internal.h"
#include "sql/types/scan.h"

namespace pgsilo {

namespace {

bool fits_int32(int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

bool add_scaled32(int64_t value, int32_t scale, int32_t* total) {
  int32_t product;
  return fits_int32(value) &&
         !__builtin_mul_overflow(static_cast<int32_t>(value), scale, &product) &&
         !__builtin_add_overflow(*total, product, total);
}

}  // namespace

bool IntervalBuilder::add_fraction_of_time(double fraction, int64_t usecs) {
  if (fraction == 0) return true;
  double exact = fraction * static_cast<double>(usecs);
  auto whole = static_cast<int64_t>(exact);
  double rest = exact - static_cast<double>(whole);
  if (rest > 0.5) {
    ++whole;
  } else if (rest < -0.5) {
    --whole;
  }
  return !__builtin_add_overflow(time_, whole, &time_);
}

bool IntervalBuilder::add_time(int64_t value, double fraction, int64_t usecs) {
  int64_t product;
  return !__builtin_mul_overflow(value, usecs, &product) &&
         !__builtin_add_overflow(time_, product, &time_) && add_fraction_of_time(fraction, usecs);
}

bool IntervalBuilder::add_days(int64_t value, int32_t days, double fraction) {
  if (!add_scaled32(value, days, &days_)) return false;
  double extra = fraction * days;
  auto whole = static_cast<int32_t>(extra);
  return !__builtin_add_overflow(days_, whole, &days_) &&
         add_fraction_of_time(extra - whole, usecs_per_day);
}

bool IntervalBuilder::add_years(int64_t value, int32_t years, double fraction) {
  auto extra_months = static_cast<int32_t>(std::rint(fraction * years * months_per_year));
  return add_scaled32(value, years, &years_) &&
         !__builtin_add_overflow(months_, extra_months, &months_);
}

DecodeStatus IntervalBuilder::add(TimeUnit unit, int64_t value, double fraction) {
  bool ok = false;
  switch (unit) {
    case TimeUnit::microsecond:
      ok = add_time(value, fraction, 1);
      break;
    case TimeUnit::millisecond:
      ok = add_time(value, fraction, 1000);
      break;
    case TimeUnit::second:
      ok = add_time(value, fraction, usecs_per_second);
      break;
    case TimeUnit::minute:
      ok = add_time(value, fraction, usecs_per_minute);
      break;
    case TimeUnit::hour:
      ok = add_time(value, fraction, usecs_per_hour);
      break;
    case TimeUnit::day:
      ok = add_days(value, 1, fraction);
      break;
    case TimeUnit::week:
      ok = add_days(value, 7, fraction);
      break;
    case TimeUnit::month:
      ok = add_scaled32(value, 1, &months_) && add_days(0, days_per_month, fraction);
      break;
    case TimeUnit::year:
      ok = add_years(value, 1, fraction);
      break;
    case TimeUnit::decade:
      ok = add_years(value, 10, fraction);
      break;
    case TimeUnit::century:
      ok = add_years(value, 100, fraction);
      break;
    case TimeUnit::millennium:
      ok = add_years(value, 1000, fraction);
      break;
    default:
      return DecodeStatus::bad_format;
  }
  return ok ? DecodeStatus::ok : DecodeStatus::field_overflow;
}

bool IntervalBuilder::negate() {
  if (time_ == INT64_MIN || days_ == INT32_MIN || months_ == INT32_MIN || years_ == INT32_MIN) {
    return false;
  }
  time_ = -time_;
  days_ = -days_;
  months_ = -months_;
  years_ = -years_;
  return true;
}

Interval IntervalBuilder::finish() const {
  int64_t months = int64_t{years_} * months_per_year + months_;
  if (!fits_int32(months)) throw_interval_out_of_range();
  return {time_, days_, static_cast<int32_t>(months)};
}

namespace {

struct IsoNumber {
  int64_t whole = 0;
  double fraction = 0;
  size_t digits = 0;  // of the whole part
};

class IsoDecoder {
 public:
  IsoDecoder(std::string_view text, IntervalBuilder* builder) : rest_(text), builder_(*builder) {}

  DecodeStatus decode() {
    while (!rest_.empty()) {
      if (rest_.front() == 'T') {
        rest_.remove_prefix(1);
        in_date_ = false;
        has_field_ = false;
        continue;
      }
      IsoNumber number;
      DecodeStatus status = take_number(&number);
      if (status != DecodeStatus::ok) return status;
      char unit = '\0';
      if (!rest_.empty()) {
        unit = rest_.front();
        rest_.remove_prefix(1);
      }
      bool done = false;
      status =
          in_date_ ? decode_date_part(number, unit, &done) : decode_time_part(number, unit, &done);
      if (status != DecodeStatus::ok || done) return status;
      has_field_ = true;
      if (restart_) has_field_ = restart_ = false;
    }
    return DecodeStatus::ok;
  }

 private:
  DecodeStatus take_number(IsoNumber* number) {
    if (rest_.empty() || (!is_digit(rest_[0]) && rest_[0] != '-' && rest_[0] != '.')) {
      return DecodeStatus::bad_format;
    }
    double value = 0;
    auto [stop, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error == std::errc::invalid_argument) return DecodeStatus::bad_format;
    constexpr double limit = 1.0e15;
    if (error != std::errc() || std::isnan(value) || value < -limit || value > limit) {
      return DecodeStatus::field_overflow;
    }
    std::string_view digits = rest_[0] == '-' ? rest_.substr(1) : rest_;
    while (number->digits < digits.size() && is_digit(digits[number->digits])) ++number->digits;
    number->whole = static_cast<int64_t>(std::trunc(value));
    number->fraction = value - static_cast<double>(number->whole);
    rest_.remove_prefix(static_cast<size_t>(stop - rest_.data()));
    return DecodeStatus::ok;
  }

  DecodeStatus add(TimeUnit unit, const IsoNumber& number) {
    return builder_.add(unit, number.whole, number.fraction);
  }

  // Leaves the date part; what comes next is a time.
  void enter_time() {
    in_date_ = false;
    restart_ = true;
  }

  DecodeStatus decode_date_part(const IsoNumber& number, char unit, bool* done) {
    switch (unit) {
      case 'Y':
        return add(TimeUnit::year, number);
      case 'M':
        return add(TimeUnit::month, number);
      case 'W':
        return add(TimeUnit::week, number);
      case 'D':
        return add(TimeUnit::day, number);
      case 'T':
      case '\0':
        *done = unit == '\0';
        if (number.digits == 8 && !has_field_) {
          enter_time();
          return decode_basic_date(number);
        }
        [[fallthrough]];
      case '-':
        if (has_field_) return DecodeStatus::bad_format;
        return decode_extended_date(number, unit, done);
      default:
        return DecodeStatus::bad_format;
    }
  }

  // yyyymmdd
  DecodeStatus decode_basic_date(const IsoNumber& number) {
    DecodeStatus status = builder_.add(TimeUnit::year, number.whole / 10000, 0);
    if (status == DecodeStatus::ok) {
      status = builder_.add(TimeUnit::month, number.whole / 100 % 100, 0);
    }
    if (status != DecodeStatus::ok) return status;
    return builder_.add(TimeUnit::day, number.whole % 100, number.fraction);
  }

  // yyyy-mm-dd, which may end after each part.
  DecodeStatus decode_extended_date(const IsoNumber& number, char unit, bool* done) {
    DecodeStatus status = add(TimeUnit::year, number);
    TimeUnit next_unit = TimeUnit::month;
    while (status == DecodeStatus::ok && unit == '-') {
      IsoNumber next;
      status = take_number(&next);
      if (status == DecodeStatus::ok) status = add(next_unit, next);
      if (status != DecodeStatus::ok) return status;
      unit = rest_.empty() ? '\0' : rest_.front();
      if (!rest_.empty()) rest_.remove_prefix(1);
      if (unit == '-' && next_unit == TimeUnit::day) return DecodeStatus::bad_format;
      next_unit = TimeUnit::day;
    }
    if (status != DecodeStatus::ok) return status;
    if (unit == 'T') {
      enter_time();
      return DecodeStatus::ok;
    }
    *done = true;
    return unit == '\0' ? DecodeStatus::ok : DecodeStatus::bad_format;
  }

  DecodeStatus decode_time_part(const IsoNumber& number, char unit, bool* done) {
    switch (unit) {
      case 'H':
        return add(TimeUnit::hour, number);
      case 'M':
        return add(TimeUnit::minute, number);
      case 'S':
        return add(TimeUnit::second, number);
      case '\0':
        *done = true;
        if (number.digits == 6 && !has_field_) return decode_basic_time(number);
        [[fallthrough]];
      case ':':
        if (has_field_) return DecodeStatus::bad_format;
        *done = true;
        return decode_extended_time(number, unit);
      default:
        return DecodeStatus::bad_format;
    }
  }

  // hhmmss
  DecodeStatus decode_basic_time(const IsoNumber& number) {
    DecodeStatus status = builder_.add(TimeUnit::hour, number.whole / 10000, 0);
    if (status == DecodeStatus::ok) {
      status = builder_.add(TimeUnit::minute, number.whole / 100 % 100, 0);
    }
    if (status == DecodeStatus::ok) status = builder_.add(TimeUnit::second, number.whole % 100, 0);
    if (status != DecodeStatus::ok) return status;
    return builder_.add(TimeUnit::microsecond, 0, number.fraction);
  }

  // hh:mm:ss, which may end after each part.
  DecodeStatus decode_extended_time(const IsoNumber& number, char separator) {
    DecodeStatus status = add(TimeUnit::hour, number);
    for (TimeUnit unit : {TimeUnit::minute, TimeUnit::second}) {
      if (status != DecodeStatus::ok || separator == '\0') return status;
      IsoNumber next;
      status = take_number(&next);
      if (status == DecodeStatus::ok) status = add(unit, next);
      if (status != DecodeStatus::ok || rest_.empty()) return status;
      if (rest_.front() != ':') return DecodeStatus::bad_format;
      rest_.remove_prefix(1);
    }
    return DecodeStatus::bad_format;
  }

  std::string_view rest_;
  IntervalBuilder& builder_;
  bool in_date_ = true;
  bool has_field_ = false;
  bool restart_ = false;
};

}  // namespace

DecodeStatus decode_iso_interval(std::string_view text, IntervalBuilder* result) {
  if (text.size() < 2 || text[0] != 'P') return DecodeStatus::bad_format;
  *result = IntervalBuilder();
  return IsoDecoder(text.substr(1), result).decode();
}

}  // namespace pgsilo
