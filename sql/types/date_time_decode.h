// Reading dates, times and intervals, first step: the input cut into fields, and what the later
// steps share. Internal to sql/types. The rules are those of PostgreSQL's manual, appendix B.1
// ("Date/Time Input Interpretation"). Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "sql/types/date_time.h"
#include "sql/types/type_context.h"

namespace pgsilo {

enum class FieldKind : uint8_t {
  number,   // digits, perhaps with a point
  date,     // digits or letters joined by - / . : or a zone's name
  time,     // digits with colons
  zone,     // a sign and digits
  word,     // letters
  special,  // a sign and letters
};
struct InputField {
  FieldKind kind;
  std::string_view text;  // letters in lower case
};

inline constexpr size_t max_input_fields = 25;
inline constexpr size_t max_input_letters = 128;

// The outcome of decoding; errors are thrown in one place, which knows the type's name.
enum class DecodeStatus : uint8_t {
  ok,
  bad_format,
  field_overflow,
  month_day_overflow,  // perhaps the wrong DateStyle
  interval_overflow,
  zone_overflow,
  bad_zone,  // the name is left in DecodedTime::bad_zone
};

struct InputFields {
  InputField fields[max_input_fields];
  size_t count = 0;
  // Cuts `text`; the fields point into this object, so it is not copied.
  DecodeStatus split(std::string_view text);

  InputFields() = default;
  InputFields(const InputFields&) = delete;
  InputFields& operator=(const InputFields&) = delete;

 private:
  char storage_[max_input_letters + max_input_fields];
};

enum class DecodedKind : uint8_t { moment, epoch, infinity, minus_infinity };

struct DecodedTime {
  DecodedKind kind = DecodedKind::moment;
  DateTimeFields fields;
  bool has_date = false;
  bool has_zone = false;
  int32_t zone_east = 0;  // seconds; the session's zone when none was given
  std::string_view bad_zone;
};

// A date with or without time and zone; `accepts_zone` is false nowhere a zone may be given and
// ignored.
DecodeStatus decode_date_time(const InputFields& input, const TypeContext& ctx,
                              DecodedTime* result);
// A time of day, perhaps with a date before it.
DecodeStatus decode_time_only(const InputFields& input, const TypeContext& ctx,
                              DecodedTime* result);

// The error for `status`.
[[noreturn]] void throw_decode_error(DecodeStatus status, std::string_view type_name,
                                     std::string_view text, std::string_view bad_zone);

// Digits of a fraction after its point, as microseconds, rounded. False when it is no fraction.
bool parse_fraction(std::string_view text, int32_t* microseconds);

}  // namespace pgsilo
