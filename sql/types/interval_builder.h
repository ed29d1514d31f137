// An interval being read, unit by unit. Internal to interval_parse*.cpp.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string_view>

#include "sql/types/date_time_decode.h"
#include "sql/types/date_time_words.h"
#include "sql/types/interval.h"

namespace pgsilo {

class IntervalBuilder {
 public:
  // `value` and `fraction` (of the same sign, below 1) of a unit. Fractions of years go to months,
  // of months and weeks to days and time, of days to time.
  DecodeStatus add(TimeUnit unit, int64_t value, double fraction);
  bool negate();
  int64_t time() const { return time_; }
  // Throws 22008 when years and months do not fit together.
  Interval finish() const;

 private:
  bool add_time(int64_t value, double fraction, int64_t usecs);
  bool add_fraction_of_time(double fraction, int64_t usecs);
  bool add_days(int64_t value, int32_t days, double fraction);
  bool add_years(int64_t value, int32_t years, double fraction);

  int64_t time_ = 0;
  int32_t days_ = 0;
  int32_t months_ = 0;
  int32_t years_ = 0;
};

// ".25"; false when it is none.
bool parse_interval_fraction(std::string_view text, double* fraction);
// P1Y2M3DT4H5M6S and its alternative forms.
DecodeStatus decode_iso_interval(std::string_view text, IntervalBuilder* result);

}  // namespace pgsilo
