// What the fields of date and time input mean: which is which, words, zones, and the checks on the
// whole.
#include "sql/types/date_time_decode.h"

#include "sql/types/date_time_decoder.h"
#include "sql/types/date_time_internal.h"
#include "sql/types/scan.h"
#include "sql/types/time_zone_abbreviation.h"

namespace pgsilo {

DecodeStatus DateTimeDecoder::decode() {
  for (size_t i = 0; i < input_.count; ++i) {
    given_ = 0;
    DecodeStatus status = decode_field(i);
    if (status != DecodeStatus::ok) return status;
    if ((given_ & seen_) != 0) return DecodeStatus::bad_format;
    seen_ |= given_;
  }
  // A unit with nothing behind it PostgreSQL passes over.
  if (label_ != WordKind::unknown && label_ != WordKind::unit) return DecodeStatus::bad_format;
  return result_.kind == DecodedKind::moment ? finish() : DecodeStatus::ok;
}

DecodeStatus DateTimeDecoder::decode_field(size_t i) {
  const InputField& field = input_.fields[i];
  switch (field.kind) {
    case FieldKind::date:
      return decode_date_field(i);
    case FieldKind::time:
      if (label_ != WordKind::unknown && label_ != WordKind::iso_time)
        return DecodeStatus::bad_format;
      label_ = WordKind::unknown;
      given_ = time;
      return decode_clock(field.text);
    case FieldKind::zone:
      given_ = zone;
      return decode_zone_offset(field.text);
    case FieldKind::number:
      if (label_ != WordKind::unknown) return decode_labelled_number(field.text);
      return time_only_ ? decode_time_number(i) : decode_plain_number(i);
    case FieldKind::word:
    case FieldKind::special:
      return decode_word(i);
  }
  __builtin_unreachable();
}

// Whether a joined field can be a date: not after the date is known; where a time is read, only in
// front of it.
bool DateTimeDecoder::may_be_date(size_t i) const {
  if (label_ != WordKind::unknown) return false;
  if (!time_only_) return (seen_ & (month | day)) != (month | day);
  return i == 0 && input_.count >= 2 &&
         (input_.fields[input_.count - 1].kind == FieldKind::date ||
          input_.fields[1].kind == FieldKind::time);
}

DecodeStatus DateTimeDecoder::decode_date_field(size_t i) {
  std::string_view text = input_.fields[i].text;
  // A day number with a zone: J2451545-05.
  if (label_ == WordKind::julian_label) {
    size_t sign = text.find('-');
    if (sign == std::string_view::npos) return DecodeStatus::bad_format;
    DecodeStatus status = decode_labelled_number(text.substr(0, sign));
    if (status != DecodeStatus::ok) return status;
    given_ |= time | zone;
    return decode_zone_offset(text.substr(sign));
  }
  if (may_be_date(i)) return decode_joined_date(text);
  if (!is_digit(text[0])) {
    given_ = zone;
    return decode_zone_name(text, DecodeStatus::bad_zone);
  }
  // Digits run together with a zone: 040506-08.
  if (label_ == WordKind::unit) return DecodeStatus::bad_format;
  label_ = WordKind::unknown;
  size_t dash = text.find('-');
  if ((seen_ & time) != 0 || dash == std::string_view::npos) return DecodeStatus::bad_format;
  DecodeStatus status = decode_zone_offset(text.substr(dash));
  if (status != DecodeStatus::ok) return status;
  status = decode_run_together(text.substr(0, dash), seen_ | (time_only_ ? date : 0));
  given_ |= zone;
  return status;
}

bool DateTimeDecoder::decode_zone_abbreviation(std::string_view text) {
  const TimeZoneAbbreviation* found = find_time_zone_abbreviation(text);
  if (found == nullptr) return false;
  given_ = zone;
  if (!found->zone.empty()) {
    zone_ = TimeZone::load(found->zone);
    abbreviation_ = found->name;
  } else {
    if (found->is_dst) given_ |= dst;
    result_.zone_east = found->seconds_east;
    result_.has_zone = true;
  }
  return true;
}

DecodeStatus DateTimeDecoder::decode_zone_name(std::string_view text, DecodeStatus unknown) {
  zone_ = TimeZone::load(text);
  if (zone_.has_value()) return DecodeStatus::ok;
  result_.bad_zone = text;
  return unknown;
}

DecodeStatus DateTimeDecoder::decode_word(size_t i) {
  std::string_view text = input_.fields[i].text;
  if (decode_zone_abbreviation(text)) return DecodeStatus::ok;
  Word word = find_word(text);
  bool date_word = word.kind == WordKind::month || word.kind == WordKind::weekday;
  if (time_only_ && date_word) return DecodeStatus::bad_format;
  if (word.kind == WordKind::unknown) {
    given_ = zone;
    return decode_zone_name(text, DecodeStatus::bad_format);
  }
  return apply_word(i, word);
}

DecodeStatus DateTimeDecoder::apply_word(size_t i, Word word) {
  switch (word.kind) {
    case WordKind::ignored:
      return DecodeStatus::ok;
    case WordKind::month:
      given_ = month;
      // A number before a month by name was the day.
      if ((seen_ & month) != 0 && !has_text_month_ && (seen_ & day) == 0 && fields_.month >= 1 &&
          fields_.month <= 31) {
        fields_.day = fields_.month;
        given_ = day;
      }
      has_text_month_ = true;
      fields_.month = word.value;
      return DecodeStatus::ok;
    case WordKind::weekday:
      given_ = weekday;
      return DecodeStatus::ok;
    case WordKind::meridian:
      given_ = meridian;
      meridian_ = word.value;
      return DecodeStatus::ok;
    case WordKind::era:
      given_ = era;
      is_bc_ = word.value == 1;
      return DecodeStatus::ok;
    case WordKind::dst_modifier:
      given_ = dst | dst_modifier;
      result_.zone_east += word.value;
      return DecodeStatus::ok;
    case WordKind::julian_label:
      label_ = WordKind::julian_label;
      return DecodeStatus::ok;
    case WordKind::iso_time:
      return decode_iso_time_label(i);
    case WordKind::unit:
      label_ = WordKind::unit;
      part_ = static_cast<LabelledPart>(word.value);
      return DecodeStatus::ok;
    case WordKind::other_unit:
    case WordKind::unknown:
      return DecodeStatus::bad_format;
    default:
      return decode_reserved(word.kind);
  }
}

// "t" stands between a date and a time.
DecodeStatus DateTimeDecoder::decode_iso_time_label(size_t i) {
  if (!time_only_ && (seen_ & date) != date) return DecodeStatus::bad_format;
  if (i + 1 >= input_.count) return DecodeStatus::bad_format;
  FieldKind next = input_.fields[i + 1].kind;
  if (next != FieldKind::number && next != FieldKind::time && next != FieldKind::date) {
    return DecodeStatus::bad_format;
  }
  label_ = WordKind::iso_time;
  return DecodeStatus::ok;
}

void DateTimeDecoder::set_local_date(int64_t day_offset) {
  TimeZone::Offset offset;
  DateTimeFields today = fields_of_timestamptz(ctx_.transaction_timestamp, ctx_.time_zone, &offset);
  int32_t julian =
      julian_day(today.year, today.month, today.day) + static_cast<int32_t>(day_offset);
  from_julian_day(julian, &fields_.year, &fields_.month, &fields_.day);
}

DecodeStatus DateTimeDecoder::decode_reserved(WordKind kind) {
  if (time_only_ && kind != WordKind::now && kind != WordKind::allballs) {
    return DecodeStatus::bad_format;
  }
  DecodedKind decoded = DecodedKind::moment;
  switch (kind) {
    case WordKind::now: {
      given_ = time_only_ ? time : date | time | zone;
      TimeZone::Offset offset;
      fields_ = fields_of_timestamptz(ctx_.transaction_timestamp, ctx_.time_zone, &offset);
      result_.zone_east = offset.seconds_east;
      result_.has_zone = true;
      break;
    }
    case WordKind::today:
    case WordKind::tomorrow:
    case WordKind::yesterday:
      given_ = date;
      set_local_date(kind == WordKind::today ? 0 : kind == WordKind::tomorrow ? 1 : -1);
      break;
    case WordKind::allballs:
      given_ = time | zone;
      fields_.hour = fields_.minute = fields_.second = 0;
      result_.zone_east = 0;
      result_.has_zone = true;
      break;
    default:
      given_ = reserved;
      decoded = kind == WordKind::epoch      ? DecodedKind::epoch
                : kind == WordKind::infinity ? DecodedKind::infinity
                                             : DecodedKind::minus_infinity;
  }
  result_.kind = decoded;
  return DecodeStatus::ok;
}

DecodeStatus DateTimeDecoder::finish_date() {
  if ((seen_ & year) != 0 && !is_julian_) {
    if (is_bc_) {
      if (fields_.year <= 0) return DecodeStatus::field_overflow;
      fields_.year = -(fields_.year - 1);
    } else if (two_digit_year_) {
      // 1970 to 2069.
      if (fields_.year < 70) {
        fields_.year += 2000;
      } else if (fields_.year < 100) {
        fields_.year += 1900;
      }
    } else if (fields_.year <= 0) {
      return DecodeStatus::field_overflow;
    }
  }
  if ((seen_ & day_of_year) != 0) {
    from_julian_day(julian_day(fields_.year, 1, 1) + day_of_year_ - 1, &fields_.year,
                    &fields_.month, &fields_.day);
  }
  if ((seen_ & month) != 0 && (fields_.month < 1 || fields_.month > 12)) {
    return DecodeStatus::month_day_overflow;
  }
  if ((seen_ & day) != 0 && (fields_.day < 1 || fields_.day > 31)) {
    return DecodeStatus::month_day_overflow;
  }
  if ((seen_ & date) == date && fields_.day > days_in_month(fields_.year, fields_.month)) {
    return DecodeStatus::field_overflow;
  }
  return DecodeStatus::ok;
}

DecodeStatus DateTimeDecoder::finish_hour() {
  if (meridian_ >= 0 && fields_.hour > 12) return DecodeStatus::field_overflow;
  if (meridian_ == 0 && fields_.hour == 12) fields_.hour = 0;
  if (meridian_ == 1 && fields_.hour != 12) fields_.hour += 12;
  if (!time_only_) return DecodeStatus::ok;
  bool overflow = fields_.minute > 59 || fields_.second > 60 || fields_.hour > 24 ||
                  time_of_fields(fields_) > usecs_per_day;
  return overflow ? DecodeStatus::field_overflow : DecodeStatus::ok;
}

int32_t DateTimeDecoder::zone_offset_of(const TimeZone& named) const {
  if ((seen_ & date) != date) {
    // A time alone: the offset of today.
    return named
        .offset_at(floor_divide(ctx_.transaction_timestamp, usecs_per_second) +
                   postgres_epoch_unix_seconds)
        .seconds_east;
  }
  if (!is_valid_julian(fields_.year, fields_.month)) return 0;
  return named.offset_at_local(local_seconds(fields_));
}

int32_t DateTimeDecoder::abbreviation_offset() const {
  int32_t offset = zone_offset_of(*zone_);
  int64_t moment = result_.has_date ? local_seconds(fields_) - offset
                                    : ctx_.transaction_timestamp / usecs_per_second +
                                          postgres_epoch_unix_seconds;
  int32_t meant;
  return zone_->find_abbreviation(abbreviation_, moment, &meant) ? meant : offset;
}

DecodeStatus DateTimeDecoder::finish() {
  DecodeStatus status = finish_date();
  if (status == DecodeStatus::ok) status = finish_hour();
  if (status != DecodeStatus::ok) return status;
  result_.has_date = (seen_ & date) == date;
  if (time_only_ ? (seen_ & time) == 0 : !result_.has_date) return DecodeStatus::bad_format;
  bool is_part_of_clock = clock_parts_ != 0 && clock_parts_ != whole_clock;
  if (time_only_ && is_part_of_clock) return DecodeStatus::bad_format;
  if (zone_.has_value()) {
    if ((seen_ & dst_modifier) != 0) return DecodeStatus::bad_format;
    // A zone whose offset changes says nothing about a time without a date.
    bool needs_date = abbreviation_.empty() && !zone_->has_one_offset();
    if (needs_date && !result_.has_date) return DecodeStatus::bad_format;
    result_.zone_east = abbreviation_.empty() ? zone_offset_of(*zone_) : abbreviation_offset();
    result_.has_zone = true;
  } else if ((seen_ & zone) == 0) {
    if ((seen_ & dst_modifier) != 0) return DecodeStatus::bad_format;
    result_.zone_east = zone_offset_of(ctx_.time_zone);
  }
  return DecodeStatus::ok;
}

DecodeStatus decode_date_time(const InputFields& input, const TypeContext& ctx,
                              DecodedTime* result) {
  return DateTimeDecoder(input, ctx, false, result).decode();
}

DecodeStatus decode_time_only(const InputFields& input, const TypeContext& ctx,
                              DecodedTime* result) {
  return DateTimeDecoder(input, ctx, true, result).decode();
}

}  // namespace pgsilo
