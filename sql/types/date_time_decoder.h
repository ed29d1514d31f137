// The state of reading one date and time from its fields. Internal to date_time_decode*.cpp.
// Thread safety: none; one use.
#pragma once

#include <optional>

#include "sql/types/date_time_decode.h"
#include "sql/types/date_time_words.h"

namespace pgsilo {

class DateTimeDecoder {
 public:
  DateTimeDecoder(const InputFields& input, const TypeContext& ctx, bool time_only,
                  DecodedTime* result)
      : input_(input), ctx_(ctx), time_only_(time_only), result_(*result), fields_(result->fields) {
    fields_ = DateTimeFields{0, 0, 0, 0, 0, 0, 0};
  }
  DecodeStatus decode();

 private:
  // What has been given, as a set.
  using Parts = uint16_t;
  static constexpr Parts year = 1;
  static constexpr Parts month = 2;
  static constexpr Parts day = 4;
  static constexpr Parts date = year | month | day;
  static constexpr Parts day_of_year = 8;
  static constexpr Parts time = 16;
  static constexpr Parts zone = 32;
  static constexpr Parts dst = 64;
  static constexpr Parts dst_modifier = 128;
  static constexpr Parts weekday = 256;
  static constexpr Parts meridian = 512;
  static constexpr Parts era = 1024;
  static constexpr Parts reserved = 2048;

  // One field each; they set given_ to what it gave. `seen` is what is taken as given before it.
  DecodeStatus decode_field(size_t i);
  DecodeStatus decode_date_field(size_t i);
  DecodeStatus decode_joined_date(std::string_view text);
  DecodeStatus decode_clock(std::string_view text);
  DecodeStatus decode_plain_number(size_t i);
  DecodeStatus decode_time_number(size_t i);
  DecodeStatus decode_labelled_number(std::string_view text);
  DecodeStatus decode_part(std::string_view text);
  DecodeStatus decode_single_number(std::string_view text, Parts seen, bool text_month);
  DecodeStatus assign_number(size_t digits, int32_t value, Parts seen, bool text_month);
  DecodeStatus decode_run_together(std::string_view text, Parts seen);
  DecodeStatus decode_word(size_t i);
  DecodeStatus apply_word(size_t i, Word word);
  DecodeStatus decode_reserved(WordKind kind);
  DecodeStatus decode_iso_time_label(size_t i);
  DecodeStatus decode_zone_offset(std::string_view text);
  DecodeStatus decode_zone_name(std::string_view text, DecodeStatus unknown);
  bool decode_zone_abbreviation(std::string_view text);
  bool may_be_date(size_t i) const;

  DecodeStatus finish();
  DecodeStatus finish_date();
  DecodeStatus finish_hour();
  void set_local_date(int64_t day_offset);
  int32_t zone_offset_of(const TimeZone& zone) const;
  int32_t abbreviation_offset() const;

  const InputFields& input_;
  const TypeContext& ctx_;
  bool time_only_;
  DecodedTime& result_;
  DateTimeFields& fields_;
  Parts seen_ = 0;
  Parts given_ = 0;
  bool has_text_month_ = false;
  bool two_digit_year_ = false;
  bool is_julian_ = false;
  bool is_bc_ = false;
  int meridian_ = -1;
  int32_t day_of_year_ = 0;
  WordKind label_ = WordKind::unknown;      // "julian", "t", "h": the next field is what it says
  LabelledPart part_ = LabelledPart::year;  // of WordKind::unit
  // hour, minute, second and its fraction where each has its label. As in PostgreSQL a time without
  // a date has all of them.
  Parts clock_parts_ = 0;
  static constexpr Parts clock_fraction = 8;
  static constexpr Parts whole_clock = 15;
  std::optional<TimeZone> zone_;   // by name: its offset depends on the date
  std::string_view abbreviation_;  // not empty: what this meant in zone_
};

}  // namespace pgsilo
