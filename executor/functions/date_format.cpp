// to_char of moments and intervals; to_date and to_timestamp of texts.
#include <algorithm>
#include <cstdio>
#include <string>

#include "base/byte_buffer.h"
#include "executor/functions/date_template.h"
#include "executor/functions/function.h"
#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "sql/types/scan.h"
#include "sql/types/type_context.h"

namespace pgsilo::functions {
namespace {

using std::string_view;

constexpr const char* month_names[] = {"January",   "February", "March",    "April",
                                       "May",       "June",     "July",     "August",
                                       "September", "October",  "November", "December"};
constexpr const char* day_names[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                     "Thursday", "Friday", "Saturday"};
constexpr const char* roman_months[] = {"I",   "II",   "III", "IV", "V",  "VI",
                                        "VII", "VIII", "IX",  "X",  "XI", "XII"};
constexpr size_t long_name = 9;  // "September", "Wednesday"

// What is printed: a moment with its date, or an interval, whose fields may be negative and have no
// day names.
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

void number(int64_t value, int width, const DateTemplateNode& node, std::string& out) {
  char text[32];
  if (node.fill_mode) width = 1;
  // A sign takes a place of its own beside the digits.
  std::snprintf(text, sizeof text, "%0*lld", value < 0 ? width + 1 : width,
                static_cast<long long>(value));
  out += text;
  if (!node.ordinal) return;
  int64_t last = value % 100;
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

void name(string_view text, const DateTemplateNode& node, size_t width, std::string& out) {
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

void print_year(const Moment& moment, const DateTemplateNode& node, std::string& out) {
  int64_t year = shown_year(moment, moment.fields.year);
  if (node.pattern == DatePattern::year_with_comma) {
    char text[32];
    std::snprintf(text, sizeof text, "%lld,%03lld", static_cast<long long>(year / 1000),
                  static_cast<long long>(year % 1000));
    out += text;
    return;
  }
  if (node.pattern == DatePattern::iso_year) {
    int32_t iso_year, week;
    iso_week(moment.date, &iso_year, &week);
    year = shown_year(moment, iso_year);
  }
  number(years_digits(year, node.digits), node.digits, node, out);
}

void print_zone(const Moment& moment, const DateTemplateNode& node, std::string& out) {
  if (moment.zone == nullptr) {
    if (node.pattern == DatePattern::zone_name) return;
    throw SqlError(sqlstate::feature_not_supported,
                   "formatting field \"OF\" is only supported for types with a time zone");
  }
  int32_t east = moment.zone->seconds_east;
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

void print_clock(const Moment& moment, const DateTemplateNode& node, std::string& out) {
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

void print_names(const Moment& moment, const DateTemplateNode& node, std::string& out) {
  const DateTimeFields& fields = moment.fields;
  bool days = node.pattern == DatePattern::day_name || node.pattern == DatePattern::day_name_short;
  if (moment.is_interval) {
    if (days)
      throw SqlError(sqlstate::invalid_datetime_format,
                     "invalid format specification for an interval value")
          .hint("Intervals are not tied to specific calendar dates.");
    if (fields.month == 0) return;
  }
  int month = fields.month < 0 ? fields.month + 12 : fields.month;
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
    case DatePattern::month_name_short:
      name(string_view(month_names[month - 1]).substr(0, 3), node, 3, out);
      return;
    default:
      name(roman_months[month - 1], node, 4, out);
      return;
  }
}

void print_date_field(const Moment& moment, const DateTemplateNode& node, std::string& out) {
  const DateTimeFields& fields = moment.fields;
  int32_t iso_year, week;
  int64_t day_of_year =
      moment.is_interval ? int64_t{fields.month} * 30 + fields.day
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
      number(day_of_year, 3, node, out);
      return;
    case DatePattern::day_of_month:
      number(fields.day, 2, node, out);
      return;
    case DatePattern::day_of_week:
      number(day_of_week(moment.date) + 1, 1, node, out);
      return;
    case DatePattern::iso_day_of_week:
      number((day_of_week(moment.date) + 6) % 7 + 1, 1, node, out);
      return;
    case DatePattern::iso_day_of_year:
      iso_week(moment.date, &iso_year, &week);
      number((week - 1) * 7 + (day_of_week(moment.date) + 6) % 7 + 1, 3, node, out);
      return;
    case DatePattern::iso_week:
      iso_week(moment.date, &iso_year, &week);
      number(week, 2, node, out);
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
    case DatePattern::week_of_year:
      number((day_of_year - 1) / 7 + 1, 2, node, out);
      return;
    case DatePattern::week_of_month:
      number((fields.day - 1) / 7 + 1, 1, node, out);
      return;
    default:
      return;
  }
}

void print_node(const Moment& moment, const DateTemplateNode& node, std::string& out) {
  int64_t hour = moment.is_interval ? moment.hour : moment.fields.hour;
  bool afternoon = hour % 24 >= 12;
  switch (node.pattern) {
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
      out += in_case(moment.fields.year > 0 ? "AD" : "BC", node.letters);
      return;
    case DatePattern::era_dotted:
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
    case DatePattern::month_roman:
      return print_names(moment, node, out);
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
  std::string out;
  for (const DateTemplateNode& node : parse_date_template(pattern)) print_node(moment, node, out);
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
  moment.hour = value.time / usecs_per_hour;
  moment.fields.minute = static_cast<int32_t>(value.time / usecs_per_minute % 60);
  moment.fields.second = static_cast<int32_t>(value.time / usecs_per_second % 60);
  moment.fields.microsecond = static_cast<int32_t>(value.time % usecs_per_second);
  return printed(context, moment, a[1].bytes());
}

// ---- reading

class TemplateReader {
 public:
  TemplateReader(string_view text, string_view pattern) : text_(text), whole_(text) {
    std::vector<DateTemplateNode> nodes = parse_date_template(pattern);
    for (size_t i = 0; i < nodes.size() && !text_.empty(); ++i) {
      bool digits_follow = i + 1 < nodes.size() && nodes[i + 1].pattern != DatePattern::literal;
      read_node(nodes[i], digits_follow);
    }
  }

  // Local time of what was read; *offset_east is set when the text gave a zone.
  DateTimeFields fields(bool* has_offset, int32_t* offset_east) const {
    *has_offset = has_offset_;
    *offset_east = (offset_negative_ ? -1 : 1) * (offset_hours_ * 3600 + offset_minutes_ * 60);
    if (julian_ >= 0) {
      DateTimeFields result = fields_;
      from_julian_day(julian_, &result.year, &result.month, &result.day);
      return checked(result);
    }
    DateTimeFields result = fields_;
    if (year_set_ && bc_) result.year = 1 - result.year;
    if (!year_set_) result.year = 0;  // 1 BC, as PostgreSQL has it
    if (meridiem_) {
      if (result.hour < 1 || result.hour > 12) fail_range();
      result.hour = result.hour % 12 + (afternoon_ ? 12 : 0);
    }
    if (day_of_year_ > 0) {
      from_julian_day(julian_day(result.year, 1, 1) + day_of_year_ - 1, &result.year, &result.month,
                      &result.day);
    }
    return checked(result);
  }

 private:
  [[noreturn]] void fail_range() const {
    throw SqlError(sqlstate::datetime_field_overflow,
                   concat("date/time field value out of range: \"", whole_, "\""));
  }
  DateTimeFields checked(const DateTimeFields& result) const {
    if (result.month < 1 || result.month > 12 || result.day < 1 ||
        result.day > days_in_month(result.year, result.month) || result.hour > 24 ||
        result.minute > 59 || result.second > 60) {
      fail_range();
    }
    return result;
  }

  void skip_space() {
    while (!text_.empty() && is_space(text_.front())) text_.remove_prefix(1);
  }
  static bool is_separator(char c) { return !is_letter(c) && !is_digit(c) && c >= ' ' && c <= '~'; }

  int32_t take_number(const DateTemplateNode& node, size_t width, bool bounded) {
    skip_space();
    bool negative = false;
    if (!text_.empty() && (text_.front() == '-' || text_.front() == '+') && text_.size() > 1 &&
        is_digit(text_[1])) {
      negative = text_.front() == '-';
      text_.remove_prefix(1);
    }
    size_t length = 0;
    size_t limit = bounded && !node.fill_mode ? width : 9;
    while (length < text_.size() && length < limit && is_digit(text_[length])) ++length;
    if (length == 0) {
      string_view word = text_.substr(0, std::max<size_t>(width, 1));
      throw SqlError(sqlstate::invalid_datetime_format,
                     concat("invalid value \"", word, "\" for \"", pattern_name(node), "\""))
          .detail("Value must be an integer.");
    }
    int32_t value = 0;
    for (char digit : text_.substr(0, length)) value = value * 10 + (digit - '0');
    text_.remove_prefix(length);
    read_digits_ = length;
    if (node.ordinal && text_.size() >= 2 && is_letter(text_[0]) && is_letter(text_[1]))
      text_.remove_prefix(2);
    return negative ? -value : value;
  }

  static string_view pattern_name(const DateTemplateNode& node) {
    switch (node.pattern) {
      case DatePattern::year:
        return string_view("YYYY").substr(4 - node.digits);
      case DatePattern::month:
        return "MM";
      case DatePattern::day_of_month:
        return "DD";
      case DatePattern::hour24:
        return "HH24";
      case DatePattern::hour12:
        return "HH12";
      case DatePattern::minute:
        return "MI";
      case DatePattern::second:
        return "SS";
      default:
        return "field";
    }
  }

  template <size_t count>
  int take_name(const char* const (&names)[count], bool short_form, const char* what) {
    skip_space();
    for (size_t i = 0; i < count; ++i) {
      string_view candidate(names[i]);
      if (short_form) candidate = candidate.substr(0, 3);
      if (!starts_with_ignoring_case(text_, candidate)) continue;
      text_.remove_prefix(candidate.size());
      return static_cast<int>(i);
    }
    size_t length = 0;
    while (length < text_.size() && is_letter(text_[length])) ++length;
    throw SqlError(sqlstate::invalid_datetime_format,
                   concat("invalid value \"", text_.substr(0, std::max<size_t>(length, 1)),
                          "\" for \"", what, "\""))
        .detail("The given value did not match any of the allowed values for this field.");
  }

  void read_year(const DateTemplateNode& node, bool bounded) {
    int32_t year = take_number(node, node.digits == 0 ? 4 : node.digits, bounded);
    if (read_digits_ < 4 && node.digits < 4 && node.pattern == DatePattern::year) {
      // The century nearest to 2020.
      if (read_digits_ <= 2) {
        year += year < 70 ? 2000 : 1900;
      } else {
        year += year < 520 ? 2000 : 1000;
      }
    }
    if (year < 0) {
      bc_ = true;
      year = -year;
    }
    fields_.year = year;
    year_set_ = true;
  }

  void read_fraction(const DateTemplateNode& node) {
    size_t length = 0;
    int32_t value = 0;
    while (length < text_.size() && length < node.digits && is_digit(text_[length])) {
      value = value * 10 + (text_[length++] - '0');
    }
    text_.remove_prefix(length);
    for (size_t i = length; i < 6; ++i) value *= 10;
    fields_.microsecond = value;
  }

  bool take_word(string_view word) {
    if (!starts_with_ignoring_case(text_, word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  void read_node(const DateTemplateNode& node, bool bounded) {
    switch (node.pattern) {
      case DatePattern::literal:
        return read_literal(node);
      case DatePattern::year:
      case DatePattern::iso_year:
        return read_year(node, bounded);
      case DatePattern::month:
        fields_.month = take_number(node, 2, bounded);
        return;
      case DatePattern::day_of_month:
        fields_.day = take_number(node, 2, bounded);
        return;
      case DatePattern::day_of_year:
        day_of_year_ = take_number(node, 3, bounded);
        return;
      case DatePattern::julian:
        julian_ = take_number(node, 7, bounded);
        return;
      case DatePattern::hour12:
      case DatePattern::hour24:
        fields_.hour = take_number(node, 2, bounded);
        return;
      case DatePattern::minute:
        fields_.minute = take_number(node, 2, bounded);
        return;
      case DatePattern::second:
        fields_.second = take_number(node, 2, bounded);
        return;
      case DatePattern::fraction:
        return read_fraction(node);
      case DatePattern::month_name:
        fields_.month = take_name(month_names, false, "Month") + 1;
        return;
      case DatePattern::month_name_short:
        fields_.month = take_name(month_names, true, "Mon") + 1;
        return;
      case DatePattern::day_name:
        take_name(day_names, false, "Day");
        return;
      case DatePattern::day_name_short:
        take_name(day_names, true, "Dy");
        return;
      case DatePattern::meridiem:
      case DatePattern::meridiem_dotted:
        skip_space();
        meridiem_ = true;
        afternoon_ = !text_.empty() && lower_letter(text_.front()) == 'p';
        if (!take_word(afternoon_ ? "p.m." : "a.m.")) take_word(afternoon_ ? "pm" : "am");
        return;
      case DatePattern::era:
      case DatePattern::era_dotted:
        skip_space();
        bc_ = !text_.empty() && lower_letter(text_.front()) == 'b';
        if (!take_word(bc_ ? "b.c." : "a.d.")) take_word(bc_ ? "bc" : "ad");
        return;
      case DatePattern::zone_hours:
        has_offset_ = true;
        skip_space();
        offset_negative_ = !text_.empty() && text_.front() == '-';
        offset_hours_ = std::abs(take_number(node, 2, bounded));
        return;
      case DatePattern::zone_minutes:
        offset_minutes_ = take_number(node, 2, bounded);
        return;
      case DatePattern::zone_name:
      case DatePattern::zone_offset:
        throw SqlError(sqlstate::feature_not_supported,
                       "formatting field \"TZ\" is only supported in to_char");
      default:
        take_number(node, 2, bounded);
        return;
    }
  }

  // A separator matches any one separator; letters and quoted text must merely be there.
  void read_literal(const DateTemplateNode& node) {
    char expected = node.text.front();
    if (!node.quoted && (is_separator(expected) || is_space(expected))) {
      if (!text_.empty() && (is_separator(text_.front()) || is_space(text_.front())))
        text_.remove_prefix(1);
      skip_space();
      return;
    }
    if (!text_.empty()) text_.remove_prefix(1);
  }

  string_view text_;
  string_view whole_;
  DateTimeFields fields_ = {1, 1, 1, 0, 0, 0, 0};
  size_t read_digits_ = 0;
  int32_t julian_ = -1;
  int32_t day_of_year_ = 0;
  int32_t offset_hours_ = 0;
  int32_t offset_minutes_ = 0;
  bool has_offset_ = false;
  bool offset_negative_ = false;
  bool year_set_ = false;
  bool bc_ = false;
  bool meridiem_ = false;
  bool afternoon_ = false;
};

Datum text_to_date(EvalContext&, const Datum* a) {
  bool has_offset;
  int32_t offset;
  DateTimeFields fields = TemplateReader(a[0].bytes(), a[1].bytes()).fields(&has_offset, &offset);
  return Datum::of_int(int64_t{julian_day(fields.year, fields.month, fields.day)} -
                       postgres_epoch_julian);
}
Datum text_to_timestamp(EvalContext& context, const Datum* a) {
  bool has_offset;
  int32_t offset;
  DateTimeFields fields = TemplateReader(a[0].bytes(), a[1].bytes()).fields(&has_offset, &offset);
  if (has_offset) return Datum::of_int(timestamp_of_fields(fields) - offset * usecs_per_second);
  return Datum::of_int(timestamptz_of_fields(fields, context.types->time_zone));
}

constexpr FunctionEntry entries[] = {
    {2049, timestamp_to_char}, {1770, timestamptz_to_char}, {1768, interval_to_char},
    {1780, text_to_date},      {1778, text_to_timestamp},
};

}  // namespace

std::span<const FunctionEntry> date_format() { return entries; }

}  // namespace pgsilo::functions
