// Dates and timestamps in the four output styles.
#include "base/byte_buffer.h"
#include "sql/types/date_time.h"

namespace pgsilo {
namespace {

constexpr const char* month_names[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr const char* day_names[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

void two(int32_t value, ByteBuffer& out) { out.append_padded(static_cast<uint64_t>(value), 2); }

// BC years are counted without a year 0.
void year(int32_t value, ByteBuffer& out) {
  out.append_padded(static_cast<uint64_t>(value > 0 ? value : 1 - value), 4);
}

void era(int32_t year, ByteBuffer& out) {
  if (year <= 0) out.append(" BC");
}

// Day and month in the session's order with `separator` between.
void day_and_month(const DateTimeFields& fields, bool day_first, char separator, ByteBuffer& out) {
  two(day_first ? fields.day : fields.month, out);
  out.append(separator);
  two(day_first ? fields.month : fields.day, out);
}

void numeric_date(const DateTimeFields& fields, const TypeContext& ctx, ByteBuffer& out) {
  bool day_first = ctx.date_order == DateOrder::dmy;
  switch (ctx.date_style) {
    case DateStyle::iso:
      year(fields.year, out);
      out.append('-');
      day_and_month(fields, false, '-', out);
      return;
    case DateStyle::sql:
      day_and_month(fields, day_first, '/', out);
      out.append('/');
      break;
    case DateStyle::german:
      day_and_month(fields, true, '.', out);
      out.append('.');
      break;
    case DateStyle::postgres:
      day_and_month(fields, day_first, '-', out);
      out.append('-');
      break;
  }
  year(fields.year, out);
}

void clock(int32_t hour, int32_t minute, int32_t second, int32_t microsecond, ByteBuffer& out) {
  two(hour, out);
  out.append(':');
  two(minute, out);
  out.append(':');
  two(second, out);
  if (microsecond == 0) return;
  out.append('.');
  int width = 6;
  while (microsecond % 10 == 0) {
    microsecond /= 10;
    --width;
  }
  out.append_padded(static_cast<uint64_t>(microsecond), width);
}

void numeric_offset(int32_t seconds_east, ByteBuffer& out) {
  out.append(seconds_east < 0 ? '-' : '+');
  int32_t seconds = seconds_east < 0 ? -seconds_east : seconds_east;
  two(seconds / 3600, out);
  if (seconds % 3600 == 0) return;
  out.append(':');
  two(seconds / 60 % 60, out);
  if (seconds % 60 == 0) return;
  out.append(':');
  two(seconds % 60, out);
}

// `zone` is null for a timestamp without one.
void moment(const DateTimeFields& fields, const TimeZone::Offset* zone, const TypeContext& ctx,
            ByteBuffer& out) {
  auto print_clock = [&] {
    clock(fields.hour, fields.minute, fields.second, fields.microsecond, out);
  };
  if (ctx.date_style == DateStyle::postgres) {
    int64_t date =
        int64_t{julian_day(fields.year, fields.month, fields.day)} - postgres_epoch_julian;
    out.append(day_names[day_of_week(date)]);
    out.append(' ');
    if (ctx.date_order == DateOrder::dmy) {
      two(fields.day, out);
      out.append(' ');
      out.append(month_names[fields.month - 1]);
    } else {
      out.append(month_names[fields.month - 1]);
      out.append(' ');
      two(fields.day, out);
    }
    out.append(' ');
    print_clock();
    out.append(' ');
    year(fields.year, out);
  } else {
    numeric_date(fields, ctx, out);
    out.append(' ');
    print_clock();
  }
  if (zone != nullptr) {
    bool by_name = ctx.date_style != DateStyle::iso;
    if (by_name && zone->abbreviation[0] != '\0') {
      out.append(' ');
      out.append(zone->abbreviation);
    } else {
      if (by_name) out.append(' ');
      numeric_offset(zone->seconds_east, out);
    }
  }
  era(fields.year, out);
}

bool infinity(int64_t value, int64_t positive, int64_t negative, ByteBuffer& out) {
  if (value == positive) {
    out.append("infinity");
  } else if (value == negative) {
    out.append("-infinity");
  } else {
    return false;
  }
  return true;
}

}  // namespace

void print_date(int64_t date, const TypeContext& ctx, ByteBuffer& out) {
  if (infinity(date, date_infinity, date_minus_infinity, out)) return;
  DateTimeFields fields;
  from_julian_day(static_cast<int32_t>(date + postgres_epoch_julian), &fields.year, &fields.month,
                  &fields.day);
  numeric_date(fields, ctx, out);
  era(fields.year, out);
}

void print_time(int64_t time, ByteBuffer& out) {
  clock(static_cast<int32_t>(time / usecs_per_hour),
        static_cast<int32_t>(time / usecs_per_minute % 60),
        static_cast<int32_t>(time / usecs_per_second % 60),
        static_cast<int32_t>(time % usecs_per_second), out);
}

void print_timestamp(int64_t timestamp, const TypeContext& ctx, ByteBuffer& out) {
  if (infinity(timestamp, timestamp_infinity, timestamp_minus_infinity, out)) return;
  moment(fields_of_timestamp(timestamp), nullptr, ctx, out);
}

void print_timestamptz(int64_t timestamp, const TypeContext& ctx, ByteBuffer& out) {
  if (infinity(timestamp, timestamp_infinity, timestamp_minus_infinity, out)) return;
  TimeZone::Offset offset;
  DateTimeFields fields = fields_of_timestamptz(timestamp, ctx.time_zone, &offset);
  moment(fields, &offset, ctx, out);
}

}  // namespace pgsilo
