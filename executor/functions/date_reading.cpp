// to_date and to_timestamp: texts read by a template.
#include <algorithm>
#include <cstdlib>

#include "executor/functions/date_template.h"
#include "executor/functions/function.h"
#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "sql/types/scan.h"
#include "sql/types/text.h"
#include "sql/types/type_context.h"

namespace pgsilo::functions {
namespace {

using std::string_view;

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

  // The next ones, whole.
  string_view characters(size_t count) const {
    return text_.substr(0, text_prefix_bytes(text_, static_cast<int64_t>(count)));
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
      string_view word = characters(std::max<size_t>(width, 1));
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
                   concat("invalid value \"", characters(std::max<size_t>(length, 1)), "\" for \"",
                          what, "\""))
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
    text_.remove_prefix(characters(1).size());
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

constexpr FunctionEntry entries[] = {{1780, text_to_date}, {1778, text_to_timestamp}};

}  // namespace

std::span<const FunctionEntry> date_reading() { return entries; }

}  // namespace pgsilo::functions
