// The digits of date and time input: joined dates, clock readings, lone numbers and numbers run
// together.
#include <algorithm>
#include <charconv>

#include "sql/types/date_time_decoder.h"
#include "sql/types/date_time_internal.h"
#include "sql/types/scan.h"

namespace pgsilo {

namespace {

constexpr int32_t max_zone_hours = 15;

struct Number {
  int32_t value = 0;
  std::string_view rest;  // what follows the digits
};

DecodeStatus scan_number(std::string_view text, Number* number) {
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number->value);
  number->rest = text.substr(static_cast<size_t>(stop - text.data()));
  if (error == std::errc::result_out_of_range) return DecodeStatus::field_overflow;
  return error == std::errc() ? DecodeStatus::ok : DecodeStatus::bad_format;
}

int32_t digits_value(std::string_view digits) {
  int32_t value = 0;
  for (char c : digits) value = value * 10 + (c - '0');
  return value;
}

// A part of a joined date: the digits or letters at the start of `text`, which is advanced behind
// the separator.
std::string_view take_part(std::string_view* text) {
  while (!text->empty() && !is_digit(text->front()) && !is_letter(text->front())) {
    text->remove_prefix(1);
  }
  if (text->empty()) return {};
  bool digits = is_digit(text->front());
  size_t length = 1;
  while (length < text->size() &&
         (digits ? is_digit((*text)[length]) : is_letter((*text)[length]))) {
    ++length;
  }
  std::string_view part = text->substr(0, length);
  text->remove_prefix(std::min(length + 1, text->size()));
  return part;
}

}  // namespace

// "2020-01-05", "5-jan-2020", "1/5/20", "2020.005".
DecodeStatus DateTimeDecoder::decode_joined_date(std::string_view text) {
  std::string_view parts[max_input_fields];
  size_t count = 0;
  while (!text.empty() && count < max_input_fields) {
    parts[count] = take_part(&text);
    if (parts[count++].empty()) return DecodeStatus::bad_format;
  }
  // Letters first: a month by name leaves no doubt about the rest.
  Parts seen = seen_;
  Parts total = 0;
  bool text_month = false;
  for (size_t i = 0; i < count; ++i) {
    if (!is_letter(parts[i][0])) continue;
    Word word = find_word(parts[i]);
    parts[i] = {};
    if (word.kind == WordKind::ignored) continue;
    if (word.kind != WordKind::month || (seen & month) != 0) return DecodeStatus::bad_format;
    fields_.month = word.value;
    text_month = true;
    seen |= month;
    total |= month;
  }
  for (size_t i = 0; i < count; ++i) {
    if (parts[i].empty()) continue;
    given_ = 0;
    DecodeStatus status = decode_single_number(parts[i], seen, text_month);
    if (status != DecodeStatus::ok) return status;
    if ((seen & given_) != 0) return DecodeStatus::bad_format;
    seen |= given_;
    total |= given_;
  }
  given_ = total;
  return (seen & ~(day_of_year | zone)) == date ? DecodeStatus::ok : DecodeStatus::bad_format;
}

// hh:mm, hh:mm:ss, hh:mm:ss.ffffff and mm:ss.ffffff; no digits after a colon are zero.
DecodeStatus DateTimeDecoder::decode_clock(std::string_view text) {
  int32_t parts[3] = {0, 0, 0};
  int count = 0;
  std::string_view rest = text;
  while (true) {
    Number number;
    if (!rest.empty() && is_digit(rest[0])) {
      DecodeStatus status = scan_number(rest, &number);
      if (status != DecodeStatus::ok) return status;
      rest = number.rest;
    }
    parts[count++] = number.value;
    if (count == 3 || !rest.starts_with(':')) break;
    rest.remove_prefix(1);
  }
  if (count == 1) return DecodeStatus::bad_format;
  bool minutes_first = count == 2 && rest.starts_with('.');
  fields_.hour = minutes_first ? 0 : parts[0];
  fields_.minute = minutes_first ? parts[0] : parts[1];
  fields_.second = minutes_first ? parts[1] : parts[2];
  fields_.microsecond = 0;
  if (!rest.empty() && !parse_fraction(rest, &fields_.microsecond)) {
    return DecodeStatus::bad_format;
  }
  bool overflow = fields_.minute > 59 || fields_.second > 60 || fields_.hour > 24 ||
                  time_of_fields(fields_) > usecs_per_day;
  return overflow ? DecodeStatus::field_overflow : DecodeStatus::ok;
}

// A number on its own where a date may be expected.
DecodeStatus DateTimeDecoder::decode_plain_number(size_t i) {
  std::string_view text = input_.fields[i].text;
  size_t point = text.find('.');
  bool has_point = point != std::string_view::npos;
  if (has_point && (seen_ & date) == 0) return decode_joined_date(text);
  if (has_point && point > 2) return decode_run_together(text, seen_);
  // Six digits and more are hhmmss or yymmdd unless both are known; fewer are one part.
  if (text.size() >= 6 && ((seen_ & date) == 0 || (seen_ & time) == 0)) {
    return decode_run_together(text, seen_);
  }
  return decode_single_number(text, seen_, has_text_month_);
}

// The same where only a time is read.
DecodeStatus DateTimeDecoder::decode_time_number(size_t i) {
  std::string_view text = input_.fields[i].text;
  size_t point = text.find('.');
  if (point != std::string_view::npos) {
    if (i == 0 && input_.count >= 2 && input_.fields[input_.count - 1].kind == FieldKind::date) {
      return decode_joined_date(text);
    }
    return point > 2 ? decode_run_together(text, seen_ | date) : DecodeStatus::bad_format;
  }
  if (text.size() > 4) return decode_run_together(text, seen_ | date);
  return decode_single_number(text, seen_ | date, false);
}

// The number after one of y, m, d, h, mm, s. A month after the hour is the minute.
DecodeStatus DateTimeDecoder::decode_part(std::string_view text) {
  Number number;
  DecodeStatus status = scan_number(text, &number);
  if (status != DecodeStatus::ok) return status;
  bool has_fraction = number.rest.starts_with('.') && part_ == LabelledPart::second;
  if (!number.rest.empty() && !has_fraction) return DecodeStatus::bad_format;
  constexpr Parts hour = 1;
  bool is_minute =
      part_ == LabelledPart::month && (seen_ & month) != 0 && (clock_parts_ & hour) != 0;
  LabelledPart part = is_minute ? LabelledPart::minute : part_;
  switch (part) {
    case LabelledPart::year:
      fields_.year = number.value;
      given_ = year;
      return DecodeStatus::ok;
    case LabelledPart::month:
      fields_.month = number.value;
      given_ = month;
      return DecodeStatus::ok;
    case LabelledPart::day:
      fields_.day = number.value;
      given_ = day;
      return DecodeStatus::ok;
    default:
      break;
  }
  auto of_clock =
      static_cast<Parts>(hour << (static_cast<int>(part) - static_cast<int>(LabelledPart::hour)));
  bool is_given = (seen_ & time) != 0 && clock_parts_ == 0;  // as hh:mm
  if (is_given || (clock_parts_ & of_clock) != 0) return DecodeStatus::bad_format;
  clock_parts_ |= of_clock;
  seen_ |= time;
  (part == LabelledPart::hour     ? fields_.hour
   : part == LabelledPart::minute ? fields_.minute
                                  : fields_.second) = number.value;
  if (!has_fraction) return DecodeStatus::ok;
  clock_parts_ |= clock_fraction;
  return parse_fraction(number.rest, &fields_.microsecond) ? DecodeStatus::ok
                                                           : DecodeStatus::bad_format;
}

// The number after "julian" or "t".
DecodeStatus DateTimeDecoder::decode_labelled_number(std::string_view text) {
  WordKind label = label_;
  label_ = WordKind::unknown;
  if (label == WordKind::unit) return decode_part(text);
  if (label == WordKind::iso_time) {
    DecodeStatus status = decode_run_together(text, seen_ | date);
    if (status != DecodeStatus::ok) return status;
    return given_ == time ? DecodeStatus::ok : DecodeStatus::bad_format;
  }
  Number number;
  DecodeStatus status = scan_number(text, &number);
  if (status != DecodeStatus::ok) return status;
  given_ = date;
  from_julian_day(number.value, &fields_.year, &fields_.month, &fields_.day);
  is_julian_ = true;
  result_.kind = DecodedKind::moment;
  if (number.rest.empty()) return DecodeStatus::ok;
  if (number.rest[0] != '.') return DecodeStatus::bad_format;
  double fraction = 0;
  std::from_chars(number.rest.data(), number.rest.data() + number.rest.size(), fraction);
  given_ |= time;
  split_time(static_cast<int64_t>(fraction * static_cast<double>(usecs_per_day)), &fields_);
  return DecodeStatus::ok;
}

// One part of a date, by what is known already and DateOrder; or the fraction of a second.
DecodeStatus DateTimeDecoder::decode_single_number(std::string_view text, Parts seen,
                                                   bool text_month) {
  Number number;
  DecodeStatus status = scan_number(text, &number);
  if (status != DecodeStatus::ok) return status;
  if (number.rest.starts_with('.')) {
    // More than two digits before the point: 2001.360, 20011225.5, 040506.789.
    if (text.size() - number.rest.size() > 2) return decode_run_together(text, seen | date);
    if (!parse_fraction(number.rest, &fields_.microsecond)) return DecodeStatus::bad_format;
  } else if (!number.rest.empty()) {
    return DecodeStatus::bad_format;
  }
  if ((seen & date) == date) return decode_run_together(text, seen);
  return assign_number(text.size(), number.value, seen, text_month);
}

DecodeStatus DateTimeDecoder::assign_number(size_t digits, int32_t value, Parts seen,
                                            bool text_month) {
  if (digits == 3 && (seen & date) == year && value >= 1 && value <= 366) {
    given_ = day_of_year | month | day;
    day_of_year_ = value;
    return DecodeStatus::ok;
  }
  bool year_first = digits >= 3 || ctx_.date_order == DateOrder::ymd;
  switch (seen & date) {
    case 0:
      given_ = year_first ? year : ctx_.date_order == DateOrder::dmy ? day : month;
      break;
    case year:
    case day:
      given_ = month;
      break;
    case month:
      given_ = text_month && year_first ? year : day;
      break;
    case year | month:
      if (text_month && digits >= 3 && two_digit_year_) {
        // DD-MON-YYYY read under YMD: what was taken for the year is the day.
        fields_.day = fields_.year;
        fields_.year = value;
        two_digit_year_ = false;
        given_ = day;
        return DecodeStatus::ok;
      }
      given_ = day;
      break;
    case month | day:
      given_ = year;
      break;
    default:
      return DecodeStatus::bad_format;
  }
  (given_ == year ? fields_.year : given_ == month ? fields_.month : fields_.day) = value;
  if (given_ == year) two_digit_year_ = digits <= 2;
  return DecodeStatus::ok;
}

// yyyymmdd and yymmdd, hhmmss and hhmm, with a fraction of a second.
DecodeStatus DateTimeDecoder::decode_run_together(std::string_view text, Parts seen) {
  size_t point = text.find('.');
  if (point != std::string_view::npos) {
    if (!parse_fraction(text.substr(point), &fields_.microsecond)) return DecodeStatus::bad_format;
    text = text.substr(0, point);
  } else if ((seen & date) != date && text.size() >= 6) {
    size_t year_digits = text.size() - 4;
    Number number;
    DecodeStatus status = scan_number(text.substr(0, year_digits), &number);
    if (status != DecodeStatus::ok) return status;
    given_ = date;
    fields_.year = number.value;
    fields_.month = digits_value(text.substr(year_digits, 2));
    fields_.day = digits_value(text.substr(year_digits + 2));
    two_digit_year_ |= year_digits == 2;
    return DecodeStatus::ok;
  }
  if ((seen & time) == 0 && (text.size() == 6 || text.size() == 4)) {
    given_ = time;
    fields_.hour = digits_value(text.substr(0, 2));
    fields_.minute = digits_value(text.substr(2, 2));
    fields_.second = text.size() == 6 ? digits_value(text.substr(4)) : 0;
    return DecodeStatus::ok;
  }
  return DecodeStatus::bad_format;
}

// "+05", "-05:30", "+0530", "+05:30:15".
DecodeStatus DateTimeDecoder::decode_zone_offset(std::string_view text) {
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return DecodeStatus::bad_format;
  Number number;
  DecodeStatus status = scan_number(text.substr(1), &number);
  if (status != DecodeStatus::ok) {
    return status == DecodeStatus::field_overflow ? DecodeStatus::zone_overflow : status;
  }
  int32_t hours = number.value;
  int32_t minutes = 0;
  int32_t seconds = 0;
  if (number.rest.starts_with(':')) {
    status = scan_number(number.rest.substr(1), &number);
    if (status != DecodeStatus::ok) return DecodeStatus::bad_format;
    minutes = number.value;
    if (number.rest.starts_with(':')) {
      status = scan_number(number.rest.substr(1), &number);
      if (status != DecodeStatus::ok) return DecodeStatus::bad_format;
      seconds = number.value;
    }
  } else if (number.rest.empty() && text.size() > 3) {
    minutes = hours % 100;
    hours /= 100;
  }
  // A field of this kind may hold more than one sign: "+05:-30".
  bool in_range = hours >= 0 && hours <= max_zone_hours && minutes >= 0 && minutes <= 59 &&
                  seconds >= 0 && seconds <= 59;
  if (!in_range) return DecodeStatus::zone_overflow;
  int32_t offset = (hours * 60 + minutes) * 60 + seconds;
  result_.zone_east = text[0] == '-' ? -offset : offset;
  result_.has_zone = true;
  return number.rest.empty() ? DecodeStatus::ok : DecodeStatus::bad_format;
}

}  // namespace pgsilo
