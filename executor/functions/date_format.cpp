// to_char of moments and intervals.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/asking_allocator.h"
#include "base/long_work.h"
#include "executor/functions/date_template.h"
#include "executor/functions/function.h"
#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "sql/types/scan.h"
#include "sql/types/type_context.h"

namespace pgsilo::functions {
namespace {

using std::string_view;

constexpr const char* roman_months[] = {"I",   "II",   "III", "IV", "V",  "VI",
                                        "VII", "VIII", "IX",  "X",  "XI", "XII"};
constexpr size_t long_name = 9;  // "September", "Wednesday"

// What is printed: a moment with its date, or an interval, whose fields may be negative and have no
// names.
struct Moment {
  DateTimeFields fields;
  int64_t hour = 0;  // of an interval beyond 32 bits
  int64_t date = 0;  // days since 2000-01-01
  bool is_interval = false;
  const TimeZone::Offset* zone = nullptr;
};

std::string in_case(string_view text, LetterCase letters) {
  std::string result(text);
  if (letters == LetterCase::capital) return result;
  for (char& c : result) c = letters == LetterCase::upper ? upper_letter(c) : lower_letter(c);
  return result;
}

void number(int64_t value, int width, const DateTemplateNode& node, AskingString& out) {
  char text[32];
  if (node.fill_mode) width = 1;
  // A sign takes a place of its own beside the digits.
  std::snprintf(text, sizeof text, "%0*lld", value < 0 ? width + 1 : width,
                static_cast<long long>(value));
  out += text;
  if (!node.ordinal) return;
  int64_t last = std::abs(value % 100);
  const char* suffix = "TH";
  if (last < 11 || last > 13) {
    switch (last % 10) {
      case 1:
        suffix = "ST";
        break;
      case 2:
        suffix = "ND";
        break;
      case 3:
        suffix = "RD";
        break;
      default:
        break;
    }
  }
  out += in_case(suffix, node.ordinal_lower ? LetterCase::lower : LetterCase::upper);
}

// In so many places, the sign among them.
void signed_number(int64_t value, int places, const DateTemplateNode& node, AskingString& out) {
  number(value, value < 0 ? places - 1 : places, node, out);
}

void name(string_view text, const DateTemplateNode& node, size_t width, AskingString& out) {
  out += in_case(text, node.letters);
  if (!node.fill_mode && text.size() < width) out.append(width - text.size(), ' ');
}

int64_t years_digits(int64_t year, int digits) {
  constexpr int64_t modulus[] = {1, 10, 100, 1000};
  return digits >= 4 ? year : year % modulus[digits];
}

// Years BC are shown without sign, counted from 1; an interval's years as they are.
int64_t shown_year(const Moment& moment, int32_t year) {
  return moment.is_interval || year > 0 ? year : 1 - year;
}

struct IsoDate {
  int32_t year;
  int32_t week;
  int32_t day_of_year;
};

// PostgreSQL's date2j(). An interval's fields need not be those of a date, and may be so large that
// its integers overflow.
int32_t julian_of_fields(int64_t year, int64_t month, int64_t day) {
  year += month > 2 ? 4800 : 4799;
  month += month > 2 ? 1 : 13;
  int64_t century = year / 100;
  int64_t years = year * 365 - 32167 + year / 4 - century + century / 4;
  return static_cast<int32_t>(years + 7834 * month / 256 + day);
}

int32_t first_monday(int32_t iso_year) {
  int32_t fourth = julian_of_fields(iso_year, 1, 4);
  return static_cast<int32_t>(int64_t{fourth} - (fourth % 7 + 7) % 7);
}

IsoDate iso_date_of_fields(const DateTimeFields& fields) {
  int32_t day = julian_of_fields(fields.year, fields.month, fields.day);
  int32_t year = fields.year;
  int32_t first = first_monday(year);
  if (day < first) first = first_monday(--year);
  auto days_after = [&](int32_t from) { return static_cast<int32_t>(int64_t{day} - from); };
  if (days_after(first) / 7 + 1 >= 52 && day >= first_monday(year + 1))
    first = first_monday(++year);
  return {year, days_after(first) / 7 + 1, days_after(first) + 1};
}

IsoDate iso_date(const Moment& moment) {
  if (moment.is_interval) return iso_date_of_fields(moment.fields);
  IsoDate iso;
  iso_week(moment.date, &iso.year, &iso.week);
  iso.day_of_year = (iso.week - 1) * 7 + (day_of_week(moment.date) + 6) % 7 + 1;
  return iso;
}

void print_year(const Moment& moment, const DateTemplateNode& node, AskingString& out) {
  int64_t year = shown_year(moment, moment.fields.year);
  if (node.pattern == DatePattern::year_with_comma) {
    char text[32];
    std::snprintf(text, sizeof text, "%lld,%03lld", static_cast<long long>(year / 1000),
                  static_cast<long long>(year % 1000));
    out += text;
    return;
  }
  if (node.pattern == DatePattern::iso_year) year = shown_year(moment, iso_date(moment).year);
  // The ISO year has the places that the year has, with its sign.
  bool is_signed = shown_year(moment, moment.fields.year) < 0;
  signed_number(years_digits(year, node.digits), node.digits + (is_signed ? 1 : 0), node, out);
}

void require_calendar_date(const Moment& moment) {
  if (!moment.is_interval) return;
  throw SqlError(sqlstate::invalid_datetime_format,
                 "invalid format specification for an interval value")
      .hint("Intervals are not tied to specific calendar dates.");
}

void print_zone(const Moment& moment, const DateTemplateNode& node, AskingString& out) {
  require_calendar_date(moment);
  // Without a zone there is no name; an offset is that of Greenwich.
  if (moment.zone == nullptr && node.pattern == DatePattern::zone_name) return;
  int32_t east = moment.zone == nullptr ? 0 : moment.zone->seconds_east;
  int32_t seconds = east < 0 ? -east : east;
  char text[16];
  switch (node.pattern) {
    case DatePattern::zone_name:
      out += in_case(moment.zone->abbreviation, node.letters);
      return;
    case DatePattern::zone_minutes:
      std::snprintf(text, sizeof text, "%02d", seconds / 60 % 60);
      break;
    default:
      std::snprintf(text, sizeof text, "%c%02d", east < 0 ? '-' : '+', seconds / 3600);
      out += text;
      if (node.pattern != DatePattern::zone_offset || seconds % 3600 == 0) return;
      std::snprintf(text, sizeof text, ":%02d", seconds / 60 % 60);
  }
  out += text;
}

void print_clock(const Moment& moment, const DateTemplateNode& node, AskingString& out) {
  const DateTimeFields& fields = moment.fields;
  int64_t hour = moment.is_interval ? moment.hour : fields.hour;
  switch (node.pattern) {
    case DatePattern::hour12:
      number(hour % 12 == 0 ? 12 : hour % 12, 2, node, out);
      return;
    case DatePattern::hour24:
      number(hour, 2, node, out);
      return;
    case DatePattern::minute:
      number(fields.minute, 2, node, out);
      return;
    case DatePattern::second:
      number(fields.second, 2, node, out);
      return;
    case DatePattern::seconds_of_day:
      number((hour * 60 + fields.minute) * 60 + fields.second, 1, node, out);
      return;
    default:
      break;
  }
  // A fraction's leading zeros are digits, not padding.
  int32_t value = fields.microsecond;
  for (int i = node.digits; i < 6; ++i) value /= 10;
  DateTemplateNode padded = node;
  padded.fill_mode = false;
  number(value, node.digits, padded, out);
}

// Of an interval the months that its years leave, counted from December down if they are negative.
void print_roman_month(const Moment& moment, const DateTemplateNode& node, AskingString& out) {
  int year = moment.fields.year;
  int month = moment.fields.month;
  if (month == 0 && year == 0) return;
  if (month == 0) month = year > 0 ? 12 : 1;
  if (month < 0) month += 13;
  name(roman_months[month - 1], node, 4, out);
}

void print_names(const Moment& moment, const DateTemplateNode& node, AskingString& out) {
  require_calendar_date(moment);
  int month = moment.fields.month;
  switch (node.pattern) {
    case DatePattern::day_name:
      name(day_names[day_of_week(moment.date)], node, long_name, out);
      return;
    case DatePattern::day_name_short:
      name(string_view(day_names[day_of_week(moment.date)]).substr(0, 3), node, 3, out);
      return;
    case DatePattern::month_name:
      name(month_names[month - 1], node, long_name, out);
      return;
    default:
      name(string_view(month_names[month - 1]).substr(0, 3), node, 3, out);
      return;
  }
}

void print_date_field(const Moment& moment, const DateTemplateNode& node, AskingString& out) {
  const DateTimeFields& fields = moment.fields;
  int64_t day_of_year =
      moment.is_interval ? (int64_t{fields.year} * 12 + fields.month) * 30 + fields.day
                         : moment.date + postgres_epoch_julian - julian_day(fields.year, 1, 1) + 1;
  switch (node.pattern) {
    case DatePattern::century: {
      int64_t year = fields.year;
      int64_t century = moment.is_interval ? year / 100
                        : year > 0         ? (year + 99) / 100
                                           : year / 100 - 1;
      number(century, 2, node, out);
      return;
    }
    case DatePattern::day_of_year:
      signed_number(day_of_year, 3, node, out);
      return;
    case DatePattern::day_of_month:
      signed_number(fields.day, 2, node, out);
      return;
    case DatePattern::day_of_week:
      require_calendar_date(moment);
      number(day_of_week(moment.date) + 1, 1, node, out);
      return;
    case DatePattern::iso_day_of_week:
      require_calendar_date(moment);
      number((day_of_week(moment.date) + 6) % 7 + 1, 1, node, out);
      return;
    case DatePattern::iso_day_of_year:
      signed_number(iso_date(moment).day_of_year, 3, node, out);
      return;
    case DatePattern::iso_week:
      signed_number(iso_date(moment).week, 2, node, out);
      return;
    case DatePattern::julian:
      number(moment.date + postgres_epoch_julian, 1, node, out);
      return;
    case DatePattern::month:
      number(fields.month, 2, node, out);
      return;
    case DatePattern::quarter:
      if (fields.month != 0) number((fields.month - 1) / 3 + 1, 1, node, out);
      return;
    case DatePattern::week_of_year: {
      int64_t of_year = (day_of_year - 1) / 7 + 1;
      number(of_year, of_year < 0 ? 1 : 2, node, out);
      return;
    }
    case DatePattern::week_of_month:
      number((fields.day - 1) / 7 + 1, 1, node, out);
      return;
    default:
      return;
  }
}

void print_node(const Moment& moment, const DateTemplateNode& node, AskingString& out) {
  int64_t hour = moment.is_interval ? moment.hour : moment.fields.hour;
  bool afternoon = hour % 24 >= 12;
  switch (node.pattern) {
    case DatePattern::exact:
      return;
    case DatePattern::literal:
      out += node.text;
      return;
    case DatePattern::meridiem:
      out += in_case(afternoon ? "PM" : "AM", node.letters);
      return;
    case DatePattern::meridiem_dotted:
      out += in_case(afternoon ? "P.M." : "A.M.", node.letters);
      return;
    case DatePattern::era:
      require_calendar_date(moment);
      out += in_case(moment.fields.year > 0 ? "AD" : "BC", node.letters);
      return;
    case DatePattern::era_dotted:
      require_calendar_date(moment);
      out += in_case(moment.fields.year > 0 ? "A.D." : "B.C.", node.letters);
      return;
    case DatePattern::fraction:
    case DatePattern::hour12:
    case DatePattern::hour24:
    case DatePattern::minute:
    case DatePattern::second:
    case DatePattern::seconds_of_day:
      return print_clock(moment, node, out);
    case DatePattern::day_name:
    case DatePattern::day_name_short:
    case DatePattern::month_name:
    case DatePattern::month_name_short:
      return print_names(moment, node, out);
    case DatePattern::month_roman:
      return print_roman_month(moment, node, out);
    case DatePattern::year:
    case DatePattern::iso_year:
    case DatePattern::year_with_comma:
      return print_year(moment, node, out);
    case DatePattern::zone_name:
    case DatePattern::zone_hours:
    case DatePattern::zone_minutes:
    case DatePattern::zone_offset:
      return print_zone(moment, node, out);
    default:
      return print_date_field(moment, node, out);
  }
}

Datum printed(EvalContext& context, const Moment& moment, string_view pattern) {
  if (pattern.empty()) return Datum();
  AskingString out;
  WorkMeter meter;
  for (const DateTemplateNode& node : parse_date_template(pattern)) {
    meter.did(256);
    print_node(moment, node, out);
  }
  return Datum::of_bytes(context.arena->copy_string(out));
}

Datum timestamp_to_char(EvalContext& context, const Datum* a) {
  if (!timestamp_is_finite(a[0].i64)) return Datum();
  Moment moment;
  moment.fields = fields_of_timestamp(a[0].i64);
  moment.date = timestamp_to_date(a[0].i64);
  return printed(context, moment, a[1].bytes());
}
Datum timestamptz_to_char(EvalContext& context, const Datum* a) {
  if (!timestamp_is_finite(a[0].i64)) return Datum();
  TimeZone::Offset offset;
  Moment moment;
  moment.fields = fields_of_timestamptz(a[0].i64, context.types->time_zone, &offset);
  moment.date = timestamptz_to_date(a[0].i64, context.types->time_zone);
  moment.zone = &offset;
  return printed(context, moment, a[1].bytes());
}
Datum interval_to_char(EvalContext& context, const Datum* a) {
  Interval value = interval_of(a[0]);
  Moment moment;
  moment.is_interval = true;
  moment.fields.year = value.month / 12;
  moment.fields.month = value.month % 12;
  moment.fields.day = value.day;
  moment.date = int64_t{julian_day(moment.fields.year, moment.fields.month, moment.fields.day)} -
                postgres_epoch_julian;
  moment.hour = value.time / usecs_per_hour;
  moment.fields.minute = static_cast<int32_t>(value.time / usecs_per_minute % 60);
  moment.fields.second = static_cast<int32_t>(value.time / usecs_per_second % 60);
  moment.fields.microsecond = static_cast<int32_t>(value.time % usecs_per_second);
  return printed(context, moment, a[1].bytes());
}

constexpr FunctionEntry entries[] = {
    {2049, timestamp_to_char},
    {1770, timestamptz_to_char},
    {1768, interval_to_char},
};

}  // namespace

std::span<const FunctionEntry> date_format() { return entries; }

}  // namespace pgsilo::functions
