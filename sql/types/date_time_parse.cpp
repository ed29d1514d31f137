// Reading dates, times and timestamps the way people write them: ISO 8601, month names, the
// session's day and month order, time zones by offset, abbreviation or name, special words.
//
// The text is cut into words and numbers; each piece fills the fields it can mean, and a piece that
// cannot mean anything, or a field filled twice, is 22007. Ranges are checked when all is read
// (22008).
#include <algorithm>
#include <optional>
#include <string>

#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "sql/types/scan.h"

namespace pgsilo {
namespace {

constexpr std::string_view month_names[] = {"january",   "february", "march",    "april",
                                            "may",       "june",     "july",     "august",
                                            "september", "october",  "november", "december"};
constexpr std::string_view weekday_names[] = {"sunday",   "monday", "tuesday", "wednesday",
                                              "thursday", "friday", "saturday"};

// Abbreviations of PostgreSQL's default set that an everyday client sends; seconds east. Those that
// a zone of the database also names are found there.
struct ZoneAbbreviation {
  std::string_view name;
  int32_t seconds_east;
};
constexpr ZoneAbbreviation zone_abbreviations[] = {
    {"acst", 34200},  {"adt", -10800}, {"aedt", 39600}, {"aest", 36000}, {"akdt", -28800},
    {"akst", -32400}, {"art", -10800}, {"ast", -14400}, {"awst", 28800}, {"brst", -7200},
    {"brt", -10800},  {"bst", 3600},   {"cdt", -18000}, {"cest", 7200},  {"cet", 3600},
    {"cst", -21600},  {"eat", 10800},  {"edt", -14400}, {"eest", 10800}, {"eet", 7200},
    {"est", -18000},  {"gmt", 0},      {"hkt", 28800},  {"hst", -36000}, {"idt", 10800},
    {"ist", 7200},    {"jst", 32400},  {"kst", 32400},  {"mdt", -21600}, {"msk", 10800},
    {"mst", -25200},  {"ndt", -9000},  {"nst", -12600}, {"nzdt", 46800}, {"nzst", 43200},
    {"pdt", -25200},  {"pkt", 18000},  {"pst", -28800}, {"sgt", 28800},  {"ut", 0},
    {"utc", 0},       {"wat", 3600},   {"west", 3600},  {"wet", 0},      {"z", 0},
    {"zulu", 0}};

enum class Special : uint8_t {
  none,
  infinity,
  minus_infinity,
  epoch,
  now,
  today,
  tomorrow,
  yesterday
};

// What a text says; fields that it leaves open keep their defaults.
struct Reading {
  DateTimeFields fields;
  bool has_date = false;
  bool has_time = false;
  bool has_month = false;  // by name
  bool bc = false;
  bool afternoon = false;  // PM
  bool meridiem = false;   // AM or PM was said
  int year_digits = 0;
  Special special = Special::none;
  std::optional<int32_t> offset;  // seconds east
  std::optional<TimeZone> zone;
};

struct Failure {};  // thrown and caught within this file: the text is not of the form

class Reader {
 public:
  Reader(std::string_view text, DateOrder order) : text_(text), order_(order) {}

  Reading read() {
    skip_separators();
    while (!text_.empty()) {
      read_piece();
      skip_separators();
    }
    finish_numbers();
    return reading_;
  }

 private:
  void skip_separators() {
    while (!text_.empty() && (is_space(text_.front()) || text_.front() == ','))
      text_.remove_prefix(1);
  }
  char at(size_t index) const { return index < text_.size() ? text_[index] : '\0'; }
  size_t count_digits() const {
    size_t count = 0;
    while (is_digit(at(count))) ++count;
    return count;
  }
  static int32_t number(std::string_view digits) {
    if (digits.empty() || digits.size() > 9) throw Failure();
    int32_t value = 0;
    for (char digit : digits) value = value * 10 + (digit - '0');
    return value;
  }
  std::string_view take(size_t length) {
    std::string_view taken = text_.substr(0, length);
    text_.remove_prefix(length);
    return taken;
  }

  void read_piece() {
    char first = at(0);
    if (is_digit(first)) return read_number();
    if (is_letter(first)) return read_word();
    if (first == '+' || first == '-') return read_sign();
    throw Failure();
  }

  void read_sign() {
    bool negative = at(0) == '-';
    std::string_view rest = text_.substr(1);
    for (std::string_view word : {"infinity", "inf"}) {
      if (starts_with_ignoring_case(rest, word) && rest.size() == word.size()) {
        reading_.special = negative ? Special::minus_infinity : Special::infinity;
        text_ = {};
        return;
      }
    }
    if (!reading_.has_time && !reading_.has_date && loose_count_ == 0) throw Failure();
    read_offset();
  }

  // +hh, +hhmm, +hh:mm, +hh:mm:ss
  void read_offset() {
    if (reading_.offset || reading_.zone) throw Failure();
    bool negative = take(1) == "-";
    size_t digits = count_digits();
    int32_t hour = 0, minute = 0, second = 0;
    if (digits == 1 || digits == 2) {
      hour = number(take(digits));
      if (at(0) == ':') {
        take(1);
        minute = number(take(std::min<size_t>(count_digits(), 2)));
        if (at(0) == ':') {
          take(1);
          second = number(take(std::min<size_t>(count_digits(), 2)));
        }
      }
    } else if (digits == 3 || digits == 4) {
      int32_t value = number(take(digits));
      hour = value / 100;
      minute = value % 100;
    } else if (digits == 6) {
      int32_t value = number(take(digits));
      hour = value / 10000;
      minute = value / 100 % 100;
      second = value % 100;
    } else {
      throw Failure();
    }
    if (hour > 15 || minute > 59 || second > 59) {
      throw SqlError(sqlstate::invalid_time_zone_displacement_value,
                     "time zone displacement out of range");
    }
    int32_t seconds = (hour * 60 + minute) * 60 + second;
    reading_.offset = negative ? -seconds : seconds;
  }

  void read_number() {
    size_t digits = count_digits();
    char next = at(digits);
    if (next == ':') return read_clock(digits);
    if ((next == '-' || next == '/' || next == '.') &&
        (is_digit(at(digits + 1)) || is_letter(at(digits + 1)))) {
      // A lone number with a fraction is no date: "12.5".
      return read_separated_date(next);
    }
    if (digits >= 5 || (next == 'T' || next == 't')) return read_run(digits);
    // A clock reading by hours alone: "10 pm", "10pm".
    size_t after = digits;
    while (is_space(at(after))) ++after;
    if (digits <= 2 && (lower_letter(at(after)) == 'a' || lower_letter(at(after)) == 'p') &&
        lower_letter(at(after + 1)) == 'm' && !is_letter(at(after + 2)) && !reading_.has_time) {
      reading_.fields.hour = number(take(digits));
      reading_.has_time = true;
      return;
    }
    if (loose_count_ == 3) throw Failure();
    loose_digits_[loose_count_] = static_cast<int>(digits);
    loose_[loose_count_++] = number(take(digits));
  }

  // 20240115, 20240115T103045, 240115
  void read_run(size_t digits) {
    std::string_view run = take(digits);
    if (reading_.has_date && !reading_.has_time) {
      if (run.size() != 4 && run.size() != 6) throw Failure();
      set_clock_run(run);
      return;
    }
    if (reading_.has_date) throw Failure();
    if (run.size() == 8) {
      set_date(number(run.substr(0, 4)), 4, number(run.substr(4, 2)), number(run.substr(6, 2)));
    } else if (run.size() == 6) {
      set_date(number(run.substr(0, 2)), 2, number(run.substr(2, 2)), number(run.substr(4, 2)));
    } else {
      throw Failure();
    }
    if (at(0) == 'T' || at(0) == 't') take(1);
  }

  void set_clock_run(std::string_view run) {
    reading_.fields.hour = number(run.substr(0, 2));
    reading_.fields.minute = number(run.substr(2, 2));
    if (run.size() == 6) reading_.fields.second = number(run.substr(4, 2));
    reading_.has_time = true;
    if (at(0) == '.') read_fraction();
  }

  void read_fraction() {
    take(1);
    size_t digits = count_digits();
    std::string_view fraction = take(digits);
    // Rounded to microseconds; may carry into the second, which the range checks allow for.
    double value = 0, unit = 0.1;
    for (char digit : fraction) {
      value += (digit - '0') * unit;
      unit /= 10;
    }
    reading_.fields.microsecond = static_cast<int32_t>(value * 1e6 + 0.5);
  }

  void read_clock(size_t hour_digits) {
    if (reading_.has_time) throw Failure();
    reading_.has_time = true;
    reading_.fields.hour = number(take(hour_digits));
    take(1);
    size_t digits = count_digits();
    reading_.fields.minute = number(take(digits));
    if (at(0) == ':') {
      take(1);
      digits = count_digits();
      reading_.fields.second = number(take(digits));
      if (at(0) == '.') read_fraction();
    } else if (at(0) == '.') {
      // mm:ss.ffffff
      reading_.fields.second = reading_.fields.minute;
      reading_.fields.minute = reading_.fields.hour;
      reading_.fields.hour = 0;
      read_fraction();
    }
  }

  // 2024-01-15, 1/15/2024, 15.1.2024, 15-Jan-2024, 2024-Jan-15, 2024.015 is not read
  void read_separated_date(char separator) {
    if (reading_.has_date) {
      // A date is there: "-05" after a clock was taken by read_sign; anything else is wrong.
      throw Failure();
    }
    std::string_view parts[3];
    for (int i = 0; i < 3; ++i) {
      size_t length = 0;
      while (is_digit(at(length)) || is_letter(at(length))) {
        // "15T10:30": the date ends before the T.
        if (i == 2 && (at(length) == 'T' || at(length) == 't') && is_digit(at(length + 1)) &&
            length > 0)
          break;
        ++length;
      }
      parts[i] = take(length);
      if (i < 2) {
        if (at(0) != separator) throw Failure();
        take(1);
      }
    }
    if ((at(0) == 'T' || at(0) == 't') && is_digit(at(1))) take(1);
    int month = 0;
    int letters = -1;
    for (int i = 0; i < 3; ++i) {
      if (parts[i].empty()) throw Failure();
      if (!is_letter(parts[i][0])) continue;
      month = find_name(parts[i], month_names);
      if (month == 0 || letters >= 0) throw Failure();
      letters = i;
    }
    if (letters >= 0) return set_named_date(parts, letters, month);
    if (parts[0].size() >= 3) {
      return set_date(number(parts[0]), static_cast<int>(parts[0].size()), number(parts[1]),
                      number(parts[2]));
    }
    place(parts);
  }

  void set_named_date(std::string_view* parts, int letters, int month) {
    std::string_view first = parts[letters == 0 ? 1 : 0];
    std::string_view second = parts[letters == 2 ? 1 : 2];
    bool year_first =
        first.size() > 2 || (second.size() <= 2 && order_ == DateOrder::ymd && letters == 1);
    std::string_view year = year_first ? first : second;
    set_date(number(year), static_cast<int>(year.size()), month,
             number(year_first ? second : first));
  }

  // Three numbers by the session's order.
  void place(const std::string_view* parts) {
    int year = order_ == DateOrder::ymd ? 0 : 2;
    int month = order_ == DateOrder::mdy ? 0 : 1;
    int day = order_ == DateOrder::mdy ? 1 : order_ == DateOrder::dmy ? 0 : 2;
    set_date(number(parts[year]), static_cast<int>(parts[year].size()), number(parts[month]),
             number(parts[day]));
  }

  void set_date(int32_t year, int year_digits, int32_t month, int32_t day) {
    if (reading_.has_date) throw Failure();
    reading_.has_date = true;
    reading_.fields.year = year;
    reading_.year_digits = year_digits;
    reading_.fields.month = month;
    reading_.fields.day = day;
  }

  template <size_t count>
  static int find_name(std::string_view word, const std::string_view (&names)[count]) {
    for (size_t i = 0; i < count; ++i) {
      bool abbreviation = word.size() == 3 ||
                          (word.size() == 4 && equal_ignoring_case(word, "sept")) ||
                          equal_ignoring_case(word, "tues") || equal_ignoring_case(word, "thur") ||
                          equal_ignoring_case(word, "thurs") || equal_ignoring_case(word, "wednes");
      if (equal_ignoring_case(word, names[i]) ||
          (abbreviation && starts_with_ignoring_case(names[i], word))) {
        return static_cast<int>(i) + 1;
      }
    }
    return 0;
  }

  void read_word() {
    size_t length = 0;
    while (is_letter(at(length)) || at(length) == '/' || at(length) == '_' ||
           (length > 0 && (is_digit(at(length)) || at(length) == '-') && has_slash(length))) {
      ++length;
    }
    std::string_view word = text_.substr(0, length);
    if (int month = find_name(word, month_names); month != 0) {
      if (reading_.has_month || reading_.has_date) throw Failure();
      reading_.has_month = true;
      reading_.fields.month = month;
      take(length);
      return read_month_tail();
    }
    if (find_name(word, weekday_names) != 0) {
      take(length);
      return;
    }
    take(length);
    if (read_special(word) || read_marker(word)) return;
    read_zone(word);
  }
  // Zone names hold digits and dashes ("Etc/GMT-5"), but only after a slash.
  bool has_slash(size_t length) const {
    return text_.substr(0, length).find('/') != std::string_view::npos;
  }

  // "Jan-15-2024" and "Jan/15/2024".
  void read_month_tail() {
    if ((at(0) == '-' || at(0) == '/') && is_digit(at(1))) {
      char separator = at(0);
      take(1);
      size_t digits = count_digits();
      add_loose(number(take(digits)), digits);
      if (at(0) == separator && is_digit(at(1))) {
        take(1);
        digits = count_digits();
        add_loose(number(take(digits)), digits);
      }
    }
  }
  void add_loose(int32_t value, size_t digits) {
    if (loose_count_ == 3) throw Failure();
    loose_digits_[loose_count_] = static_cast<int>(digits);
    loose_[loose_count_++] = value;
  }

  bool read_special(std::string_view word) {
    struct Word {
      std::string_view text;
      Special special;
    };
    constexpr Word words[] = {{"infinity", Special::infinity},  {"inf", Special::infinity},
                              {"epoch", Special::epoch},        {"now", Special::now},
                              {"today", Special::today},        {"tomorrow", Special::tomorrow},
                              {"yesterday", Special::yesterday}};
    for (const Word& candidate : words) {
      if (!equal_ignoring_case(word, candidate.text)) continue;
      if (reading_.special != Special::none || reading_.has_date) throw Failure();
      reading_.special = candidate.special;
      return true;
    }
    return false;
  }

  bool read_marker(std::string_view word) {
    if (equal_ignoring_case(word, "bc")) {
      reading_.bc = true;
    } else if (equal_ignoring_case(word, "ad") || equal_ignoring_case(word, "at") ||
               equal_ignoring_case(word, "on")) {
      // noise
    } else if (equal_ignoring_case(word, "am") || equal_ignoring_case(word, "pm")) {
      if (reading_.meridiem) throw Failure();
      reading_.meridiem = true;
      reading_.afternoon = lower_letter(word[0]) == 'p';
    } else if (equal_ignoring_case(word, "allballs")) {
      reading_.has_time = true;
      reading_.offset = 0;
    } else if (equal_ignoring_case(word, "t") && is_digit(at(0))) {
      // the T of ISO 8601
    } else {
      return false;
    }
    return true;
  }

  void read_zone(std::string_view word) {
    if (reading_.offset || reading_.zone) throw Failure();
    for (const ZoneAbbreviation& abbreviation : zone_abbreviations) {
      if (!equal_ignoring_case(word, abbreviation.name)) continue;
      reading_.offset = abbreviation.seconds_east;
      return;
    }
    bool named = word.find('/') != std::string_view::npos;
    reading_.zone = TimeZone::load(word);
    if (reading_.zone) return;
    if (!named) throw Failure();
    throw SqlError(sqlstate::invalid_parameter_value,
                   concat("time zone \"", word, "\" not recognized"));
  }

  // Numbers that stood alone: with a month by name they are day and year.
  void finish_numbers() {
    if (loose_count_ == 0) {
      if (reading_.has_month) throw Failure();
      return;
    }
    if (reading_.has_month && loose_count_ == 2) {
      bool year_first = loose_digits_[0] > 2;
      int year = year_first ? 0 : 1;
      set_date(loose_[year], loose_digits_[year], reading_.fields.month, loose_[1 - year]);
      return;
    }
    if (!reading_.has_month && loose_count_ == 3) {
      std::string parts[3];
      std::string_view views[3];
      for (int i = 0; i < 3; ++i) {
        parts[i] = std::to_string(loose_[i]);
        parts[i].insert(
            0,
            static_cast<size_t>(std::max(0, loose_digits_[i] - static_cast<int>(parts[i].size()))),
            '0');
        views[i] = parts[i];
      }
      if (loose_digits_[0] >= 3) return set_date(loose_[0], loose_digits_[0], loose_[1], loose_[2]);
      return place(views);
    }
    throw Failure();
  }

  std::string_view text_;
  DateOrder order_;
  Reading reading_;
  int32_t loose_[3] = {0, 0, 0};
  int loose_digits_[3] = {0, 0, 0};
  int loose_count_ = 0;
};

[[noreturn]] void throw_invalid(std::string_view type, std::string_view text) {
  throw SqlError(sqlstate::invalid_datetime_format,
                 concat("invalid input syntax for type ", type, ": \"", text, "\""));
}
[[noreturn]] void throw_field_out_of_range(std::string_view text, bool month_like) {
  SqlError error(sqlstate::datetime_field_overflow,
                 concat("date/time field value out of range: \"", text, "\""));
  if (month_like) {
    error.amend().hint = "Perhaps you need a different \"datestyle\" setting.";
  }
  throw error;
}

Reading read_text(std::string_view text, std::string_view type, const TypeContext& ctx) {
  if (text.size() > 128) throw_invalid(type, text);
  try {
    return Reader(text, ctx.date_order).read();
  } catch (const Failure&) {
  }
  throw_invalid(type, text);
}

void settle_date(Reading& reading, std::string_view text) {
  DateTimeFields& fields = reading.fields;
  if (reading.bc) {
    if (fields.year == 0) throw_field_out_of_range(text, false);
    fields.year = 1 - fields.year;
  } else if (reading.year_digits <= 2) {
    fields.year += fields.year < 70 ? 2000 : 1900;
  } else if (fields.year == 0) {
    throw_field_out_of_range(text, false);
  }
  if (fields.month < 1 || fields.month > 12) throw_field_out_of_range(text, true);
  if (fields.day < 1 || fields.day > 31) throw_field_out_of_range(text, true);
  if (fields.day > days_in_month(fields.year, fields.month)) throw_field_out_of_range(text, false);
}

void settle_time(Reading& reading, std::string_view text, std::string_view type) {
  DateTimeFields& fields = reading.fields;
  if (reading.meridiem) {
    if (!reading.has_time) throw_invalid(type, text);
    if (fields.hour < 1 || fields.hour > 12) throw_field_out_of_range(text, false);
    fields.hour = fields.hour % 12 + (reading.afternoon ? 12 : 0);
  }
  bool end_of_day =
      fields.hour == 24 && fields.minute == 0 && fields.second == 0 && fields.microsecond == 0;
  if ((fields.hour > 23 && !end_of_day) || fields.minute > 59 || fields.second > 60 ||
      (fields.second == 60 && fields.microsecond > 0)) {
    throw_field_out_of_range(text, false);
  }
}

// The local day that holds the transaction's moment.
int64_t current_date(const TypeContext& ctx) {
  return timestamptz_to_date(ctx.transaction_timestamp, ctx.time_zone);
}

int64_t special_date(Special special, const TypeContext& ctx) {
  switch (special) {
    case Special::infinity:
      return date_infinity;
    case Special::minus_infinity:
      return date_minus_infinity;
    case Special::epoch:
      return unix_epoch_julian - postgres_epoch_julian;
    case Special::tomorrow:
      return current_date(ctx) + 1;
    case Special::yesterday:
      return current_date(ctx) - 1;
    default:
      return current_date(ctx);
  }
}

[[noreturn]] void throw_out_of_range(std::string_view what, std::string_view text) {
  throw SqlError(sqlstate::datetime_field_overflow, concat(what, " out of range: \"", text, "\""));
}

int64_t time_of(const DateTimeFields& fields) {
  return ((int64_t{fields.hour} * 60 + fields.minute) * 60 + fields.second) * usecs_per_second +
         fields.microsecond;
}

// The local timestamp that a settled reading says; its zone is the caller's business.
int64_t local_timestamp(const Reading& reading, std::string_view text) {
  const DateTimeFields& fields = reading.fields;
  if (fields.year < -4713 || fields.year > 294276) throw_out_of_range("timestamp", text);
  int64_t date = int64_t{julian_day(fields.year, fields.month, fields.day)} - postgres_epoch_julian;
  int64_t timestamp = date * usecs_per_day + time_of(fields);
  if (date < -postgres_epoch_julian) throw_out_of_range("timestamp", text);
  return timestamp;
}

// Infinities and 'now' end the reading; days leave a date to which a clock reading may be added.
bool settle_special(Reading& reading, const TypeContext& ctx, int64_t* moment) {
  switch (reading.special) {
    case Special::none:
      return false;
    case Special::infinity:
      *moment = timestamp_infinity;
      return true;
    case Special::minus_infinity:
      *moment = timestamp_minus_infinity;
      return true;
    case Special::now:
      *moment = ctx.transaction_timestamp;
      return true;
    default: {
      int64_t date = special_date(reading.special, ctx);
      from_julian_day(static_cast<int32_t>(date + postgres_epoch_julian), &reading.fields.year,
                      &reading.fields.month, &reading.fields.day);
      reading.has_date = true;
      reading.year_digits = 4;
      if (reading.special == Special::epoch) reading.offset = 0;
      return false;
    }
  }
}

}  // namespace

int64_t parse_date(std::string_view text, const TypeContext& ctx) {
  Reading reading = read_text(text, "date", ctx);
  if (reading.special != Special::none) return special_date(reading.special, ctx);
  if (!reading.has_date) throw_invalid("date", text);
  settle_date(reading, text);
  settle_time(reading, text, "date");
  const DateTimeFields& fields = reading.fields;
  if (fields.year < -4713 || fields.year > 5874897) throw_out_of_range("date", text);
  int64_t date = int64_t{julian_day(fields.year, fields.month, fields.day)} - postgres_epoch_julian;
  if (date < -postgres_epoch_julian) throw_out_of_range("date", text);
  return date;
}

int64_t parse_time(std::string_view text, int32_t typmod, const TypeContext& ctx) {
  Reading reading = read_text(text, "time", ctx);
  if (reading.special == Special::now) {
    return time_apply_typmod(timestamptz_to_time(ctx.transaction_timestamp, ctx.time_zone).i64,
                             typmod);
  }
  if (!reading.has_time || reading.special != Special::none) throw_invalid("time", text);
  settle_time(reading, text, "time");
  return time_apply_typmod(time_of(reading.fields), typmod);
}

int64_t parse_timestamp(std::string_view text, int32_t typmod, const TypeContext& ctx) {
  Reading reading = read_text(text, "timestamp", ctx);
  int64_t moment;
  if (settle_special(reading, ctx, &moment)) {
    return reading.special == Special::now
               ? timestamp_apply_typmod(timestamptz_to_timestamp(moment, ctx.time_zone), typmod)
               : moment;
  }
  if (!reading.has_date) throw_invalid("timestamp", text);
  if (reading.special == Special::none) settle_date(reading, text);
  settle_time(reading, text, "timestamp");
  return timestamp_apply_typmod(local_timestamp(reading, text), typmod);
}

int64_t parse_timestamptz(std::string_view text, int32_t typmod, const TypeContext& ctx) {
  constexpr std::string_view type = "timestamp with time zone";
  Reading reading = read_text(text, type, ctx);
  int64_t moment;
  if (settle_special(reading, ctx, &moment)) return timestamp_apply_typmod(moment, typmod);
  if (!reading.has_date) throw_invalid(type, text);
  if (reading.special == Special::none) settle_date(reading, text);
  settle_time(reading, text, type);
  int64_t local = local_timestamp(reading, text);
  int64_t result = reading.offset ? local - *reading.offset * usecs_per_second
                                  : timestamp_to_timestamptz(
                                        local, reading.zone ? *reading.zone : ctx.time_zone);
  return timestamp_apply_typmod(result, typmod);
}

}  // namespace pgsilo
