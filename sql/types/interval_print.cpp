// Intervals in the four output styles.
#include "base/byte_buffer.h"
#include "sql/types/date_time.h"
#include "sql/types/interval.h"

namespace pgsilo {
namespace {

// An interval as it is shown: every field with its own sign; seconds and their fraction share one.
struct Parts {
  int32_t year, month, day;
  int64_t hour;
  int32_t minute, second, microsecond;

  explicit Parts(const Interval& value)
      : year(value.month / 12),
        month(value.month % 12),
        day(value.day),
        hour(value.time / usecs_per_hour),
        minute(static_cast<int32_t>(value.time / usecs_per_minute % 60)),
        second(static_cast<int32_t>(value.time / usecs_per_second % 60)),
        microsecond(static_cast<int32_t>(value.time % usecs_per_second)) {}

  bool has_time() const { return hour != 0 || minute != 0 || second != 0 || microsecond != 0; }
  bool time_negative() const { return hour < 0 || minute < 0 || second < 0 || microsecond < 0; }
};

template <typename Int>
uint64_t magnitude(Int value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

// Seconds without a sign: "05.25", or "5.25" when not padded.
void seconds(const Parts& parts, bool padded, ByteBuffer& out) {
  out.append_padded(magnitude(parts.second), padded ? 2 : 1);
  uint64_t fraction = magnitude(parts.microsecond);
  if (fraction == 0) return;
  int width = 6;
  while (fraction % 10 == 0) {
    fraction /= 10;
    --width;
  }
  out.append('.');
  out.append_padded(fraction, width);
}

void clock(const Parts& parts, ByteBuffer& out) {
  out.append_padded(magnitude(parts.hour), 2);
  out.append(':');
  out.append_padded(magnitude(parts.minute), 2);
  out.append(':');
  seconds(parts, true, out);
}

// "1 year -2 mons +3 days 04:05:06": a field after a negative one shows its plus.
void print_postgres(const Parts& parts, ByteBuffer& out) {
  bool empty = true;
  bool negative = false;
  auto field = [&](int32_t value, const char* unit) {
    if (value == 0) return;
    if (!empty) out.append(' ');
    if (negative && value > 0) out.append('+');
    out.append_decimal(value);
    out.append(' ');
    out.append(unit);
    if (value != 1) out.append('s');
    negative = value < 0;
    empty = false;
  };
  field(parts.year, "year");
  field(parts.month, "mon");
  field(parts.day, "day");
  if (!empty && !parts.has_time()) return;
  if (!empty) out.append(' ');
  if (parts.time_negative()) {
    out.append('-');
  } else if (negative) {
    out.append('+');
  }
  clock(parts, out);
}

// "@ 1 year 2 mons -3 days 4 hours 5 mins 6.7 secs ago": the first field's sign is said by "ago".
void print_verbose(const Parts& parts, ByteBuffer& out) {
  out.append('@');
  bool empty = true;
  bool ago = false;
  auto sign = [&](bool field_negative) {
    if (empty) {
      ago = field_negative;
    } else if (ago != field_negative) {
      out.append('-');
    }
  };
  auto field = [&](int64_t value, const char* unit) {
    if (value == 0) return;
    out.append(' ');
    sign(value < 0);
    out.append_decimal(magnitude(value));
    out.append(' ');
    out.append(unit);
    if (magnitude(value) != 1 || (value < 0) != ago) out.append('s');
    empty = false;
  };
  field(parts.year, "year");
  field(parts.month, "mon");
  field(parts.day, "day");
  field(parts.hour, "hour");
  field(parts.minute, "min");
  if (parts.second != 0 || parts.microsecond != 0) {
    out.append(' ');
    sign(parts.second < 0 || parts.microsecond < 0);
    seconds(parts, false, out);
    bool one = magnitude(parts.second) == 1 && parts.microsecond == 0;
    out.append(one ? " sec" : " secs");
    empty = false;
  }
  if (empty) out.append(" 0");
  if (ago) out.append(" ago");
}

// SQL standard: "1-2", "3 4:05:06", and with all fields "+1-2 -3 +4:05:06".
void print_sql_standard(const Parts& parts, ByteBuffer& out) {
  bool any_negative = parts.year < 0 || parts.month < 0 || parts.day < 0 || parts.time_negative();
  bool any_positive = parts.year > 0 || parts.month > 0 || parts.day > 0 || (parts.has_time() && !parts.time_negative());
  bool year_month = parts.year != 0 || parts.month != 0;
  bool day_time = parts.day != 0 || parts.has_time();
  bool standard = !(any_negative && any_positive) && !(year_month && day_time);
  auto clock_short = [&] {
    out.append_decimal(magnitude(parts.hour));
    out.append(':');
    out.append_padded(magnitude(parts.minute), 2);
    out.append(':');
    seconds(parts, true, out);
  };
  if (!any_negative && !any_positive) {
    out.append('0');
    return;
  }
  if (!standard) {
    out.append(parts.year < 0 || parts.month < 0 ? '-' : '+');
    out.append_decimal(magnitude(parts.year));
    out.append('-');
    out.append_decimal(magnitude(parts.month));
    out.append(' ');
    out.append(parts.day < 0 ? '-' : '+');
    out.append_decimal(magnitude(parts.day));
    out.append(' ');
    out.append(parts.time_negative() ? '-' : '+');
    clock_short();
    return;
  }
  if (any_negative) out.append('-');
  if (year_month) {
    out.append_decimal(magnitude(parts.year));
    out.append('-');
    out.append_decimal(magnitude(parts.month));
    return;
  }
  if (parts.day != 0) {
    out.append_decimal(magnitude(parts.day));
    out.append(' ');
  }
  clock_short();
}

void print_iso_8601(const Parts& parts, ByteBuffer& out) {
  size_t start = out.size();
  out.append('P');
  auto field = [&](int64_t value, char unit) {
    if (value == 0) return;
    out.append_decimal(value);
    out.append(unit);
  };
  field(parts.year, 'Y');
  field(parts.month, 'M');
  field(parts.day, 'D');
  if (parts.has_time()) {
    out.append('T');
    field(parts.hour, 'H');
    field(parts.minute, 'M');
    if (parts.second != 0 || parts.microsecond != 0) {
      if (parts.second < 0 || parts.microsecond < 0) out.append('-');
      seconds(parts, false, out);
      out.append('S');
    }
  }
  if (out.size() == start + 1) out.append("T0S");
}

}  // namespace

void print_interval(const Interval& value, IntervalStyle style, ByteBuffer& out) {
  Parts parts(value);
  switch (style) {
    case IntervalStyle::postgres: return print_postgres(parts, out);
    case IntervalStyle::postgres_verbose: return print_verbose(parts, out);
    case IntervalStyle::sql_standard: return print_sql_standard(parts, out);
    case IntervalStyle::iso_8601: return print_iso_8601(parts, out);
  }
}

}  // namespace pgsilo
