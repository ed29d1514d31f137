// interval as text, in every IntervalStyle.
#include <cstdlib>

#include "base/byte_buffer.h"
#include "sql/types/date_time.h"
#include "sql/types/interval.h"
#include "sql/types/interval_internal.h"

namespace pgsilo {

namespace {

// The fields as they are printed; all of one part (months, days, time) have the same sign.
struct Fields {
  int64_t year;
  int64_t month;
  int64_t day;
  int64_t hour;
  int64_t minute;
  int64_t second;
  int64_t microsecond;

  explicit Fields(const Interval& value)
      : year(value.month / months_per_year),
        month(value.month % months_per_year),
        day(value.day),
        hour(value.time / usecs_per_hour),
        minute(value.time / usecs_per_minute % 60),
        second(value.time / usecs_per_second % 60),
        microsecond(value.time % usecs_per_second) {}

  bool has_time() const { return hour != 0 || minute != 0 || second != 0 || microsecond != 0; }
  bool negative_time() const { return hour < 0 || minute < 0 || second < 0 || microsecond < 0; }
};

// Seconds and fraction without sign, without zeros at the end.
void print_seconds(const Fields& fields, int width, ByteBuffer& out) {
  out.append_padded(static_cast<uint64_t>(std::llabs(fields.second)), width);
  int64_t rest = std::llabs(fields.microsecond);
  if (rest == 0) return;
  out.append('.');
  for (int64_t unit = 100000; rest != 0; unit /= 10) {
    out.append(static_cast<char>('0' + rest / unit));
    rest %= unit;
  }
}

// h:mm:ss with the hours as wide as asked.
void print_clock(const Fields& fields, int hour_width, ByteBuffer& out) {
  out.append_padded(static_cast<uint64_t>(std::llabs(fields.hour)), hour_width);
  out.append(':');
  out.append_padded(static_cast<uint64_t>(std::llabs(fields.minute)), 2);
  out.append(':');
  print_seconds(fields, 2, out);
}

// "1 year 2 mons -3 days +04:05:06": a part after a negative one shows its plus.
void print_postgres(const Fields& fields, ByteBuffer& out) {
  bool first = true;
  bool after_negative = false;
  auto print_part = [&](int64_t value, std::string_view unit) {
    if (value == 0) return;
    if (!first) out.append(' ');
    if (after_negative && value > 0) out.append('+');
    out.append_decimal(value);
    out.append(' ');
    out.append(unit);
    if (value != 1) out.append('s');
    after_negative = value < 0;
    first = false;
  };
  print_part(fields.year, "year");
  print_part(fields.month, "mon");
  print_part(fields.day, "day");
  if (!first && !fields.has_time()) return;
  if (!first) out.append(' ');
  if (fields.negative_time()) {
    out.append('-');
  } else if (after_negative) {
    out.append('+');
  }
  print_clock(fields, 2, out);
}

// "@ 1 year -2 days ago": the sign of the first part is the word at the end.
void print_verbose(const Fields& fields, ByteBuffer& out) {
  out.append('@');
  bool first = true;
  bool ago = false;
  auto print_part = [&](int64_t value, std::string_view unit) {
    if (value == 0) return;
    if (first) ago = value < 0;
    if (ago) value = -value;
    out.append(' ');
    out.append_decimal(value);
    out.append(' ');
    out.append(unit);
    if (value != 1) out.append('s');
    first = false;
  };
  print_part(fields.year, "year");
  print_part(fields.month, "mon");
  print_part(fields.day, "day");
  print_part(fields.hour, "hour");
  print_part(fields.minute, "min");
  if (fields.second != 0 || fields.microsecond != 0) {
    bool negative = fields.second < 0 || fields.microsecond < 0;
    if (first) ago = negative;
    out.append(' ');
    if (negative != ago) out.append('-');
    print_seconds(fields, 1, out);
    out.append(std::llabs(fields.second) != 1 || fields.microsecond != 0 ? " secs" : " sec");
    first = false;
  }
  if (first) out.append(" 0");
  if (ago) out.append(" ago");
}

void print_iso(const Fields& fields, ByteBuffer& out) {
  auto print_part = [&](int64_t value, char unit) {
    if (value == 0) return;
    out.append_decimal(value);
    out.append(unit);
  };
  bool has_date = fields.year != 0 || fields.month != 0 || fields.day != 0;
  if (!has_date && !fields.has_time()) {
    out.append("PT0S");
    return;
  }
  out.append('P');
  print_part(fields.year, 'Y');
  print_part(fields.month, 'M');
  print_part(fields.day, 'D');
  if (!fields.has_time()) return;
  out.append('T');
  print_part(fields.hour, 'H');
  print_part(fields.minute, 'M');
  if (fields.second == 0 && fields.microsecond == 0) return;
  if (fields.second < 0 || fields.microsecond < 0) out.append('-');
  print_seconds(fields, 1, out);
  out.append('S');
}

void print_signed_part(bool negative, ByteBuffer& out) { out.append(negative ? '-' : '+'); }

// The standard has one sign and either years and months or days and time; what does not fit is
// printed with all parts signed.
void print_sql_standard(const Fields& fields, ByteBuffer& out) {
  bool negative_months = fields.year < 0 || fields.month < 0;
  bool has_months = fields.year != 0 || fields.month != 0;
  bool has_time = fields.day != 0 || fields.has_time();
  bool negative = negative_months || fields.day < 0 || fields.negative_time();
  bool positive = (has_months && !negative_months) || fields.day > 0 ||
                  (fields.has_time() && !fields.negative_time());
  auto print_unsigned = [&](int64_t value) {
    out.append_decimal(static_cast<uint64_t>(std::llabs(value)));
  };
  if (!negative && !positive) {
    out.append('0');
    return;
  }
  if ((negative && positive) || (has_months && has_time)) {
    print_signed_part(negative_months, out);
    print_unsigned(fields.year);
    out.append('-');
    print_unsigned(fields.month);
    out.append(' ');
    print_signed_part(fields.day < 0, out);
    print_unsigned(fields.day);
    out.append(' ');
    print_signed_part(fields.negative_time(), out);
    print_clock(fields, 1, out);
    return;
  }
  if (negative) out.append('-');
  if (has_months) {
    print_unsigned(fields.year);
    out.append('-');
    print_unsigned(fields.month);
    return;
  }
  if (fields.day != 0) {
    print_unsigned(fields.day);
    out.append(' ');
  }
  print_clock(fields, 1, out);
}

}  // namespace

void print_interval(const Interval& value, IntervalStyle style, ByteBuffer& out) {
  Fields fields(value);
  switch (style) {
    case IntervalStyle::postgres:
      return print_postgres(fields, out);
    case IntervalStyle::postgres_verbose:
      return print_verbose(fields, out);
    case IntervalStyle::sql_standard:
      return print_sql_standard(fields, out);
    case IntervalStyle::iso_8601:
      return print_iso(fields, out);
  }
}

}  // namespace pgsilo
