// Texts read by the templates of to_date and to_timestamp. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace pgsilo {

enum class DateConvention : uint8_t { none, gregorian, iso_week };

// What the text gave for each field; 0 stands for nothing, as in PostgreSQL: '00' for a month is as
// good as none.
struct TemplateValues {
  DateConvention convention = DateConvention::none;
  int32_t year = 0;
  int32_t year_digits = 0;  // of the template
  int32_t century = 0;
  bool before_christ = false;
  int32_t month = 0;
  int32_t week_of_year = 0;
  int32_t week_of_month = 0;
  int32_t day_of_year = 0;
  int32_t day_of_month = 0;
  int32_t day_of_week = 0;  // 1 is Sunday, in ISO weeks too
  int32_t julian = 0;
  bool hour_of_twelve = false;
  bool afternoon = false;
  int32_t hour = 0;
  int32_t minute = 0;
  int32_t second = 0;
  int32_t second_of_day = 0;
  int32_t millisecond = 0;
  int32_t microsecond = 0;
  int32_t fraction_digits = 0;  // of FF
  int32_t zone_sign = 0;
  int32_t zone_hours = 0;
  int32_t zone_minutes = 0;
};

// Throws 22007, 22008 and 0A000 (a zone's name).
TemplateValues read_by_template(std::string_view text, std::string_view pattern);

}  // namespace pgsilo
