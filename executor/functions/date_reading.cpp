// to_date and to_timestamp: moments made of what a template read from a text.
#include "executor/functions/function.h"
#include "executor/functions/template_reading.h"
#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "sql/types/type_context.h"

namespace pgsilo::functions {
namespace {

using std::string_view;

// As PostgreSQL counts: beyond int4 it wraps.
int32_t wrapped(int64_t value) { return static_cast<int32_t>(value); }

// A moment in the making. Year 0, month 1 and day 1 stand for what was not given.
class MomentMaker {
 public:
  MomentMaker(const TemplateValues& values, string_view text) : values_(values), text_(text) {}

  DateTimeFields make() {
    set_time();
    set_year();
    if (values_.julian != 0) set_date(values_.julian);
    set_week();
    set_month_and_day();
    if (values_.day_of_year != 0 && (fields_.month <= 1 || fields_.day <= 1)) set_day_of_year();
    check_date();
    check_time();
    return fields_;
  }

 private:
  [[noreturn]] void fail_range() const {
    throw SqlError(sqlstate::datetime_field_overflow,
                   concat("date/time field value out of range: \"", text_, "\""));
  }

  void set_time() {
    if (int32_t second = values_.second_of_day; second != 0) {
      fields_.hour = second / 3600;
      fields_.minute = second / 60 % 60;
      fields_.second = second % 60;
    }
    if (values_.second != 0) fields_.second = values_.second;
    if (values_.minute != 0) fields_.minute = values_.minute;
    if (values_.hour != 0) fields_.hour = values_.hour;
    fields_.microsecond = wrapped(int64_t{values_.millisecond} * 1000 + values_.microsecond);
    if (!values_.hour_of_twelve) return;
    if (fields_.hour < 1 || fields_.hour > 12) {
      throw SqlError(
          sqlstate::invalid_datetime_format,
          concat("hour \"", std::to_string(fields_.hour), "\" is invalid for the 12-hour clock"))
          .hint("Use the 24-hour clock, or give an hour between 1 and 12.");
    }
    fields_.hour = fields_.hour % 12 + (values_.afternoon ? 12 : 0);
  }

  void set_year() {
    int64_t century = values_.before_christ ? -int64_t{values_.century} : values_.century;
    if (values_.year == 0 && century == 0) return;
    has_year_ = true;
    if (century == 0 || (values_.year != 0 && values_.year_digits > 2)) {
      fields_.year = wrapped(values_.before_christ ? -int64_t{values_.year} : values_.year);
      if (fields_.year < 0) ++fields_.year;
      return;
    }
    // The 21st century is 2001 to 2100, the 6th before Christ is 600 to 501 BC; without a year it
    // is the century's first.
    int32_t low = values_.year == 0 ? 1 : values_.year % 100;
    if (century >= 0) {
      fields_.year = wrapped(low == 0 ? century * 100 : (century - 1) * 100 + low);
    } else if (values_.year == 0) {
      fields_.year = wrapped(century * 100 + 1);
    } else {
      fields_.year = wrapped(low == 0 ? century * 100 + 1 : (century + 1) * 100 - low + 1);
    }
  }

  void set_date(int64_t julian) {
    from_julian_day(wrapped(julian), &fields_.year, &fields_.month, &fields_.day);
    has_year_ = has_month_ = has_day_ = true;
  }

  // The Monday of an ISO week, which is the first that has a Thursday in the year.
  int64_t julian_of_iso_week(int64_t week) const {
    int32_t fourth = julian_day(fields_.year, 1, 4);
    int32_t monday_based = (day_of_week(int64_t{fourth} - postgres_epoch_julian) + 6) % 7;
    return int64_t{wrapped((week - 1) * 7)} + fourth - monday_based;
  }

  void set_week() {
    if (values_.week_of_year == 0) return;
    if (values_.convention != DateConvention::iso_week) {
      values_.day_of_year = wrapped((int64_t{values_.week_of_year} - 1) * 7 + 1);
      return;
    }
    int64_t days = 0;  // since its Monday
    if (values_.day_of_week > 1) {
      days = values_.day_of_week - 2;
    } else if (values_.day_of_week != 0) {
      days = 6;
    }
    set_date(julian_of_iso_week(values_.week_of_year) + days);
  }

  void set_month_and_day() {
    if (values_.week_of_month != 0)
      values_.day_of_month = wrapped((int64_t{values_.week_of_month} - 1) * 7 + 1);
    if (values_.day_of_month != 0) {
      fields_.day = values_.day_of_month;
      has_day_ = true;
    }
    if (values_.month != 0) {
      fields_.month = values_.month;
      has_month_ = true;
    }
  }

  void set_day_of_year() {
    if (fields_.year == 0 && !values_.before_christ) {
      throw SqlError(sqlstate::invalid_datetime_format,
                     "cannot calculate day of year without year information");
    }
    if (values_.convention == DateConvention::iso_week)
      return set_date(julian_of_iso_week(1) - 1 + values_.day_of_year);
    int32_t month = 1;
    int64_t days_before = 0;
    for (; month <= 12; ++month) {
      int days = days_in_month(fields_.year, month);
      if (values_.day_of_year <= days_before + days) break;
      days_before += days;
    }
    // A day beyond the year leaves month 13, which is refused.
    if (fields_.month <= 1) fields_.month = month;
    if (fields_.day <= 1) fields_.day = wrapped(values_.day_of_year - days_before);
    has_month_ = has_day_ = true;
  }

  // What was not given is not looked at: the 30th of February of no year is the 1st of March.
  void check_date() const {
    if (has_month_ && (fields_.month < 1 || fields_.month > 12)) fail_range();
    if (has_day_ && (fields_.day < 1 || fields_.day > 31)) fail_range();
    if (has_year_ && has_month_ && has_day_ &&
        fields_.day > days_in_month(fields_.year, fields_.month)) {
      fail_range();
    }
  }
  void check_time() const {
    if (fields_.hour < 0 || fields_.hour >= 24 || fields_.minute < 0 || fields_.minute >= 60 ||
        fields_.second < 0 || fields_.second >= 60 || fields_.microsecond < 0 ||
        fields_.microsecond >= usecs_per_second) {
      fail_range();
    }
    if (values_.zone_sign == 0) return;
    if (values_.zone_hours < 0 || values_.zone_hours > 15 || values_.zone_minutes < 0 ||
        values_.zone_minutes >= 60) {
      throw SqlError(sqlstate::invalid_time_zone_displacement_value,
                     concat("time zone displacement out of range: \"", text_, "\""));
    }
  }

  TemplateValues values_;
  string_view text_;
  DateTimeFields fields_;
  bool has_year_ = false;
  bool has_month_ = false;
  bool has_day_ = false;
};

Datum text_to_date(EvalContext&, const Datum* a) {
  string_view text = a[0].bytes();
  DateTimeFields fields = MomentMaker(read_by_template(text, a[1].bytes()), text).make();
  // Julian days of years beyond these do not fit in an int4.
  bool valid = fields.year >= -4713 && fields.year <= 5874898;
  int64_t julian = valid ? julian_day(fields.year, fields.month, fields.day) : -1;
  if (julian < 0 || julian - postgres_epoch_julian >= 2145031949) {
    throw SqlError(sqlstate::datetime_value_out_of_range,
                   concat("date out of range: \"", text, "\""));
  }
  return Datum::of_int(julian - postgres_epoch_julian);
}
Datum text_to_timestamp(EvalContext& context, const Datum* a) {
  string_view text = a[0].bytes();
  TemplateValues values = read_by_template(text, a[1].bytes());
  DateTimeFields fields = MomentMaker(values, text).make();
  int32_t east = values.zone_sign * (values.zone_hours * 3600 + values.zone_minutes * 60);
  int64_t moment = values.zone_sign == 0 ? timestamptz_of_fields(fields, context.types->time_zone)
                                         : timestamptz_of_fields(fields, TimeZone::fixed(east));
  if (values.fraction_digits == 0) return Datum::of_int(moment);
  return Datum::of_int(timestamp_apply_typmod(moment, values.fraction_digits));
}

constexpr FunctionEntry entries[] = {{1780, text_to_date}, {1778, text_to_timestamp}};

}  // namespace

std::span<const FunctionEntry> date_reading() { return entries; }

}  // namespace pgsilo::functions
