// Dates, times and timestamps as text, in every DateStyle.
#include <charconv>

#include "base/byte_buffer.h"
#include "sql/types/date_time.h"
#include "sql/types/date_time_internal.h"

namespace pgsilo {

namespace {

constexpr std::string_view month_names[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::string_view day_names[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

char* put_two(char* at, int32_t value) {
  at[0] = static_cast<char>('0' + value / 10);
  at[1] = static_cast<char>('0' + value % 10);
  return at + 2;
}

char* put_year(char* at, int32_t year) {
  year = year_as_said(year);
  char digits[12];
  int count = 0;
  for (; year != 0 || count < 4; year /= 10) digits[count++] = static_cast<char>('0' + year % 10);
  while (count > 0) *at++ = digits[--count];
  return at;
}

// hh:mm:ss and as many digits of the fraction as are not zeros at the end.
char* put_clock(char* at, const DateTimeFields& fields) {
  at = put_two(at, fields.hour);
  *at++ = ':';
  at = put_two(at, fields.minute);
  *at++ = ':';
  at = put_two(at, fields.second);
  if (fields.microsecond == 0) return at;
  *at++ = '.';
  int32_t rest = fields.microsecond;
  for (int32_t unit = 100000; rest != 0; unit /= 10) {
    *at++ = static_cast<char>('0' + rest / unit);
    rest %= unit;
  }
  return at;
}

char* put_joined_date(char* at, const DateTimeFields& fields, bool day_first, char separator) {
  at = put_two(at, day_first ? fields.day : fields.month);
  *at++ = separator;
  at = put_two(at, day_first ? fields.month : fields.day);
  *at++ = separator;
  return put_year(at, fields.year);
}

char* put_iso_date(char* at, const DateTimeFields& fields) {
  at = put_year(at, fields.year);
  *at++ = '-';
  at = put_two(at, fields.month);
  *at++ = '-';
  return put_two(at, fields.day);
}

char* put_text(char* at, std::string_view text) {
  text.copy(at, text.size());
  return at + text.size();
}

// "+05", "-03:30", "+00:19:32"; "+577014:32:22": a timetz may be moved to any zone.
char* put_offset(char* at, int64_t seconds_east) {
  *at++ = seconds_east < 0 ? '-' : '+';
  int64_t magnitude = seconds_east < 0 ? -seconds_east : seconds_east;
  auto hours = static_cast<int32_t>(magnitude / 3600);
  auto seconds = static_cast<int32_t>(magnitude % 3600);
  at = hours < 100 ? put_two(at, hours) : std::to_chars(at, at + 10, hours).ptr;
  if (seconds == 0) return at;
  *at++ = ':';
  at = put_two(at, seconds / 60);
  if (seconds % 60 == 0) return at;
  *at++ = ':';
  return put_two(at, seconds % 60);
}

constexpr size_t max_printed_bytes = 80;

// `offset` is null for timestamps without a zone.
void print_moment(const DateTimeFields& fields, const TimeZone::Offset* offset,
                  const TypeContext& ctx, ByteBuffer& out) {
  char* at = out.reserve(max_printed_bytes);
  bool day_first = ctx.date_order == DateOrder::dmy;
  switch (ctx.date_style) {
    case DateStyle::iso:
      at = put_iso_date(at, fields);
      *at++ = ' ';
      at = put_clock(at, fields);
      if (offset != nullptr) at = put_offset(at, offset->seconds_east);
      break;
    case DateStyle::sql:
    case DateStyle::german:
      at = ctx.date_style == DateStyle::sql ? put_joined_date(at, fields, day_first, '/')
                                            : put_joined_date(at, fields, true, '.');
      *at++ = ' ';
      at = put_clock(at, fields);
      break;
    case DateStyle::postgres: {
      int64_t date =
          int64_t{julian_day(fields.year, fields.month, fields.day)} - postgres_epoch_julian;
      at = put_text(at, day_names[day_of_week(date)]);
      *at++ = ' ';
      std::string_view month = month_names[fields.month - 1];
      if (day_first) {
        at = put_two(at, fields.day);
        *at++ = ' ';
        at = put_text(at, month);
      } else {
        at = put_text(at, month);
        *at++ = ' ';
        at = put_two(at, fields.day);
      }
      *at++ = ' ';
      at = put_clock(at, fields);
      *at++ = ' ';
      at = put_year(at, fields.year);
      break;
    }
  }
  if (offset != nullptr && ctx.date_style != DateStyle::iso) {
    *at++ = ' ';
    at = put_text(at, offset->abbreviation);
  }
  if (fields.year <= 0) at = put_text(at, " BC");
  out.commit_to(at);
}

bool print_infinity(bool positive, bool negative, ByteBuffer& out) {
  if (positive) out.append("infinity");
  if (negative) out.append("-infinity");
  return positive || negative;
}

}  // namespace

void print_date(int64_t date, const TypeContext& ctx, ByteBuffer& out) {
  if (print_infinity(date == date_infinity, date == date_minus_infinity, out)) return;
  DateTimeFields fields;
  from_julian_day(static_cast<int32_t>(date + postgres_epoch_julian), &fields.year, &fields.month,
                  &fields.day);
  bool day_first = ctx.date_order == DateOrder::dmy;
  char* at = out.reserve(max_printed_bytes);
  switch (ctx.date_style) {
    case DateStyle::iso:
      at = put_iso_date(at, fields);
      break;
    case DateStyle::sql:
      at = put_joined_date(at, fields, day_first, '/');
      break;
    case DateStyle::german:
      at = put_joined_date(at, fields, true, '.');
      break;
    case DateStyle::postgres:
      at = put_joined_date(at, fields, day_first, '-');
      break;
  }
  if (fields.year <= 0) at = put_text(at, " BC");
  out.commit_to(at);
}

void print_time(int64_t time, ByteBuffer& out) {
  DateTimeFields fields;
  split_time(time, &fields);
  out.commit_to(put_clock(out.reserve(max_printed_bytes), fields));
}

void print_offset(int64_t seconds_east, ByteBuffer& out) {
  out.commit_to(put_offset(out.reserve(max_printed_bytes), seconds_east));
}

void print_timestamp(int64_t timestamp, const TypeContext& ctx, ByteBuffer& out) {
  if (print_infinity(timestamp == timestamp_infinity, timestamp == timestamp_minus_infinity, out)) {
    return;
  }
  print_moment(fields_of_timestamp(timestamp), nullptr, ctx, out);
}

void print_timestamptz(int64_t timestamptz, const TypeContext& ctx, ByteBuffer& out) {
  if (print_infinity(timestamptz == timestamp_infinity, timestamptz == timestamp_minus_infinity,
                     out)) {
    return;
  }
  TimeZone::Offset offset;
  DateTimeFields fields = fields_of_timestamptz(timestamptz, ctx.time_zone, &offset);
  print_moment(fields, &offset, ctx, out);
}

}  // namespace pgsilo
