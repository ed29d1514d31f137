#include "executor/functions/template_reading.h"

#include <limits>

#include "executor/functions/date_template.h"
#include "sql/sql_error.h"
#include "sql/types/scan.h"
#include "sql/types/text.h"

namespace pgsilo {
namespace {

using std::string_view;

constexpr const char* meridiems[] = {"am", "pm"};
constexpr const char* dotted_meridiems[] = {"a.m.", "p.m."};
constexpr const char* eras[] = {"ad", "bc"};
constexpr const char* dotted_eras[] = {"a.d.", "b.c."};
// Longer ones before their prefixes: from December to January.
constexpr const char* roman_months[] = {"xii", "xi", "x",  "ix",  "viii", "vii",
                                        "vi",  "v",  "iv", "iii", "ii",   "i"};

DateConvention convention_of(DatePattern pattern) {
  switch (pattern) {
    case DatePattern::iso_day_of_week:
    case DatePattern::iso_day_of_year:
    case DatePattern::iso_week:
    case DatePattern::iso_year:
      return DateConvention::iso_week;
    case DatePattern::day_of_year:
    case DatePattern::day_of_month:
    case DatePattern::day_of_week:
    case DatePattern::month:
    case DatePattern::month_name:
    case DatePattern::month_name_short:
    case DatePattern::month_roman:
    case DatePattern::week_of_year:
    case DatePattern::week_of_month:
    case DatePattern::year:
    case DatePattern::year_with_comma:
      return DateConvention::gregorian;
    default:
      return DateConvention::none;
  }
}

// Whether what the pattern reads begins with a digit.
bool begins_with_digit(const DateTemplateNode& node) {
  switch (node.pattern) {
    case DatePattern::literal:
      return is_digit(node.text.front());
    case DatePattern::meridiem:
    case DatePattern::meridiem_dotted:
    case DatePattern::era:
    case DatePattern::era_dotted:
    case DatePattern::day_name:
    case DatePattern::day_name_short:
    case DatePattern::month_name:
    case DatePattern::month_name_short:
    case DatePattern::month_roman:
    case DatePattern::zone_name:
    case DatePattern::zone_offset:
    case DatePattern::zone_hours:
    case DatePattern::exact:
      return false;
    default:
      return true;
  }
}

bool is_separator(char c) { return c > ' ' && c <= '~' && !is_letter(c) && !is_digit(c); }

// A year of fewer than four digits is the one nearest to 2020.
int32_t whole_year(int32_t year) {
  if (year < 70) return year + 2000;
  if (year < 100) return year + 1900;
  if (year < 520) return year + 2000;
  return year < 1000 ? year + 1000 : year;
}

// The value of the first `length` digits of a fraction: 25 is .25, and 025 is .025.
int32_t fraction_of(int32_t value, size_t length, size_t places) {
  for (; length < places; ++length) value *= 10;
  return value;
}

class TemplateReader {
 public:
  TemplateReader(string_view text, string_view pattern)
      : whole_(text), text_(text), nodes_(parse_date_template(pattern)) {}

  TemplateValues read() {
    for (at_ = 0; at_ < nodes_.size() && !text_.empty(); ++at_) {
      bool is_literal = node().pattern == DatePattern::literal;
      bool before_field = !is_literal || at_ == 0;
      if (!exact_ && before_field && node().pattern != DatePattern::exact) skip_space();
      if (is_literal) {
        read_literal();
        continue;
      }
      set_convention();
      read_field();
      if (exact_) continue;
      skipped_ = 0;
      skip_space();
    }
    return values_;
  }

 private:
  const DateTemplateNode& node() const { return nodes_[at_]; }

  void skip_space() {
    for (; !text_.empty() && is_space(text_.front()); ++skipped_) text_.remove_prefix(1);
  }
  void skip_character() { text_.remove_prefix(text_prefix_bytes(text_, 1)); }

  // Separators and spaces match any one of them, or none; other characters match any character.
  // What was skipped beyond the template stands for the characters that come: it may have been
  // meant for them, and the next may belong to a field. FX takes one for one.
  void read_literal() {
    char expected = node().text.front();
    bool separates = !node().quoted && (is_separator(expected) || is_space(expected));
    if (exact_) return skip_character();
    if (!separates) {
      if (skipped_ > 0) {
        --skipped_;
      } else if (!text_.empty()) {
        skip_character();
      }
      return;
    }
    --skipped_;
    if (text_.empty() || !(is_separator(text_.front()) || is_space(text_.front()))) return;
    text_.remove_prefix(1);
    ++skipped_;
  }

  void set_convention() {
    DateConvention convention = convention_of(node().pattern);
    if (convention == DateConvention::none) return;
    if (values_.convention == DateConvention::none) values_.convention = convention;
    if (values_.convention == convention) return;
    throw SqlError(sqlstate::invalid_datetime_format, "invalid combination of date conventions")
        .hint("Do not mix Gregorian and ISO week date conventions in a formatting template.");
  }

  void set(int32_t* field, int32_t value) const {
    if (*field != 0 && *field != value) {
      throw SqlError(
          sqlstate::invalid_datetime_format,
          concat("conflicting values for \"", node().text, "\" field in formatting string"))
          .detail("This value contradicts a previous setting for the same field type.");
    }
    *field = value;
  }
  void set(bool* field, bool value) const {
    int32_t number = *field ? 1 : 0;
    set(&number, value ? 1 : 0);
    *field = number != 0;
  }

  SqlError invalid_value(string_view value) const {
    return SqlError(sqlstate::invalid_datetime_format,
                    concat("invalid value \"", value, "\" for \"", node().text, "\""));
  }

  // Takes digits up to whatever is none: FM says so, or what follows in the template is none.
  bool reads_to_end_of_digits() const {
    return node().fill_mode || node().ordinal || at_ + 1 == nodes_.size() ||
           !begins_with_digit(nodes_[at_ + 1]);
  }

  // A signed number from the front of `text`; *taken: its length with spaces before it, 0 if there
  // is none.
  int64_t scan_number(string_view text, size_t* taken) const {
    size_t i = 0;
    while (i < text.size() && is_space(text[i])) ++i;
    bool negative = i < text.size() && text[i] == '-';
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    size_t first_digit = i;
    int64_t value = 0;
    for (; i < text.size() && is_digit(text[i]); ++i) {
      // Beyond any int4 it only has to stay there.
      if (value <= std::numeric_limits<int32_t>::max()) value = value * 10 + (text[i] - '0');
    }
    *taken = i == first_digit ? 0 : i;
    return negative ? -value : value;
  }

  // So many bytes, and the rest of the last character.
  string_view shown_bytes(size_t width) const {
    auto is_continued = [&](size_t at) {
      return at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xC0) == 0x80;
    };
    while (is_continued(width)) ++width;
    return text_.substr(0, width);
  }

  size_t take_fixed_number(size_t width, int64_t* value) {
    static constexpr const char* hint =
        "If your source string is not fixed-width, try using the \"FM\" modifier.";
    if (text_.size() < width) {
      throw SqlError(sqlstate::invalid_datetime_format,
                     concat("source string too short for \"", node().text, "\" formatting field"))
          .detail(concat("Field requires ", std::to_string(width), " characters, but only ",
                         std::to_string(text_.size()), " remain."))
          .hint(hint);
    }
    size_t taken;
    *value = scan_number(text_.substr(0, width), &taken);
    if (taken > 0 && taken < width) {
      throw invalid_value(shown_bytes(width))
          .detail(concat("Field requires ", std::to_string(width), " characters, but only ",
                         std::to_string(taken), " could be parsed."))
          .hint(hint);
    }
    return taken;
  }

  // Reads an integer of `width` places, and gives how many bytes it took.
  size_t take_number(size_t width, int32_t* field) {
    size_t before = text_.size();
    while (!text_.empty() && is_space(text_.front())) text_.remove_prefix(1);
    int64_t value;
    size_t taken;
    bool to_end = reads_to_end_of_digits();
    if (to_end) {
      value = scan_number(text_, &taken);
    } else {
      taken = take_fixed_number(width, &value);
    }
    string_view shown = shown_bytes(width);
    text_.remove_prefix(taken);
    // Of a fixed width spaces alone are as good as 0.
    bool is_number = to_end ? taken > 0 : text_.size() != before;
    if (!is_number) throw invalid_value(shown).detail("Value must be an integer.");
    if (value < std::numeric_limits<int32_t>::min() ||
        value > std::numeric_limits<int32_t>::max()) {
      throw SqlError(sqlstate::datetime_value_out_of_range,
                     concat("value for \"", node().text, "\" in source string is out of range"))
          .detail("Value must be in the range -2147483648 to 2147483647.");
    }
    set(field, static_cast<int32_t>(value));
    return before - text_.size();
  }
  size_t take_number(int32_t* field) { return take_number(node().text.size(), field); }

  // TH takes two characters, whatever they are.
  void skip_ordinal() {
    if (node().ordinal) text_.remove_prefix(text_prefix_bytes(text_, 2));
  }
  void read_number(int32_t* field) {
    take_number(field);
    skip_ordinal();
  }

  template <size_t count>
  int32_t take_name(const char* const (&names)[count], size_t length = string_view::npos) {
    for (size_t i = 0; i < count; ++i) {
      string_view name = string_view(names[i]).substr(0, length);
      if (!starts_with_ignoring_case(text_, name)) continue;
      text_.remove_prefix(name.size());
      return static_cast<int32_t>(i);
    }
    size_t end = 0;
    while (end < text_.size() && !is_space(text_[end])) ++end;
    throw invalid_value(text_.substr(0, end))
        .detail("The given value did not match any of the allowed values for this field.");
  }

  void read_day_name(int32_t day) {
    set(&values_.day_of_week, day);
    ++values_.day_of_week;
  }

  void read_year() {
    size_t length = take_number(&values_.year);
    if (node().digits < 4 && length < 4) values_.year = whole_year(values_.year);
    values_.year_digits = node().digits;
    skip_ordinal();
  }

  void read_year_with_comma() {
    size_t taken;
    int64_t years = scan_number(text_, &taken);
    string_view rest = text_.substr(taken);
    size_t digits = 0;
    int32_t low = 0;
    if (taken > 0 && rest.starts_with(',')) {
      rest.remove_prefix(1);
      for (; digits < 3 && digits < rest.size() && is_digit(rest[digits]); ++digits)
        low = low * 10 + (rest[digits] - '0');
    }
    if (digits == 0) {
      throw SqlError(sqlstate::invalid_datetime_format, "invalid input string for \"Y,YYY\"");
    }
    set(&values_.year, static_cast<int32_t>(low + years * 1000));
    values_.year_digits = 4;
    text_ = rest.substr(digits);
    skip_ordinal();
  }

  void read_fraction() {
    bool thousandths = node().text == "MS" || node().text == "ms";
    int32_t* field = thousandths ? &values_.millisecond : &values_.microsecond;
    if (starts_with_ignoring_case(node().text, "FF")) values_.fraction_digits = node().digits;
    size_t length = take_number(node().digits, field);
    *field = fraction_of(*field, length, thousandths ? 3 : 6);
    skip_ordinal();
  }

  // A minus before the hours may have been taken for a separator.
  void read_zone_hours() {
    char first = text_.empty() ? '\0' : text_.front();
    if (first == '+' || first == '-' || first == ' ') {
      values_.zone_sign = first == '-' ? -1 : 1;
      text_.remove_prefix(1);
    } else {
      bool behind_minus = text_.size() < whole_.size() && text_.data()[-1] == '-';
      values_.zone_sign = skipped_ > 0 && behind_minus ? -1 : 1;
    }
    take_number(2, &values_.zone_hours);
  }

  void read_name() {
    switch (node().pattern) {
      case DatePattern::month_name:
        return set(&values_.month, take_name(month_names) + 1);
      case DatePattern::month_name_short:
        return set(&values_.month, take_name(month_names, 3) + 1);
      case DatePattern::month_roman:
        return set(&values_.month, 12 - take_name(roman_months));
      case DatePattern::day_name:
        return read_day_name(take_name(day_names));
      case DatePattern::day_name_short:
        return read_day_name(take_name(day_names, 3));
      case DatePattern::era:
        return set(&values_.before_christ, take_name(eras) == 1);
      case DatePattern::era_dotted:
        return set(&values_.before_christ, take_name(dotted_eras) == 1);
      case DatePattern::meridiem:
        set(&values_.afternoon, take_name(meridiems) == 1);
        break;
      case DatePattern::meridiem_dotted:
        set(&values_.afternoon, take_name(dotted_meridiems) == 1);
        break;
      default:
        return;
    }
    values_.hour_of_twelve = true;
  }

  void read_field() {
    switch (node().pattern) {
      case DatePattern::exact:
        exact_ = true;
        return;
      case DatePattern::year:
      case DatePattern::iso_year:
        return read_year();
      case DatePattern::year_with_comma:
        return read_year_with_comma();
      case DatePattern::century:
        return read_number(&values_.century);
      case DatePattern::month:
        return read_number(&values_.month);
      case DatePattern::week_of_year:
      case DatePattern::iso_week:
        return read_number(&values_.week_of_year);
      case DatePattern::week_of_month:
        return read_number(&values_.week_of_month);
      case DatePattern::day_of_year:
        return read_number(&values_.day_of_year);
      case DatePattern::iso_day_of_year:
        take_number(3, &values_.day_of_year);
        return skip_ordinal();
      case DatePattern::day_of_month:
        return read_number(&values_.day_of_month);
      case DatePattern::day_of_week:
        return read_number(&values_.day_of_week);
      case DatePattern::iso_day_of_week:
        take_number(1, &values_.day_of_week);
        if (++values_.day_of_week > 7) values_.day_of_week = 1;
        return skip_ordinal();
      case DatePattern::julian:
        return read_number(&values_.julian);
      case DatePattern::quarter: {
        // Read and left: which of its days is meant is not told.
        int32_t quarter = 0;
        return read_number(&quarter);
      }
      default:
        return read_time_field();
    }
  }

  void read_time_field() {
    switch (node().pattern) {
      case DatePattern::hour12:
        values_.hour_of_twelve = true;
        [[fallthrough]];
      case DatePattern::hour24:
        take_number(2, &values_.hour);
        return skip_ordinal();
      case DatePattern::minute:
        return read_number(&values_.minute);
      case DatePattern::second:
        return read_number(&values_.second);
      case DatePattern::seconds_of_day:
        return read_number(&values_.second_of_day);
      case DatePattern::fraction:
        return read_fraction();
      case DatePattern::zone_hours:
        return read_zone_hours();
      case DatePattern::zone_minutes:
        if (values_.zone_sign == 0) values_.zone_sign = 1;
        take_number(2, &values_.zone_minutes);
        return;
      case DatePattern::zone_name:
      case DatePattern::zone_offset:
        throw SqlError(sqlstate::feature_not_supported, concat("formatting field \"", node().text,
                                                               "\" is only supported in to_char"));
      default:
        return read_name();
    }
  }

  string_view whole_;
  string_view text_;  // what is not read yet
  AskingVector<DateTemplateNode> nodes_;
  size_t at_ = 0;
  bool exact_ = false;   // FX
  int64_t skipped_ = 0;  // characters skipped beyond those of the template
  TemplateValues values_;
};

}  // namespace

TemplateValues read_by_template(string_view text, string_view pattern) {
  return TemplateReader(text, pattern).read();
}

}  // namespace pgsilo
