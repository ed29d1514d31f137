#include "sql/types/date_time_units.h"

#include <algorithm>
#include <string>

#include "sql/sql_error.h"
#include "sql/types/scan.h"

namespace pgsilo {
namespace {

struct Spelling {
  std::string_view word;
  TimeUnit unit;
};

// Sorted. PostgreSQL compares the first ten letters only.
constexpr Spelling spellings[] = {
    {"c", TimeUnit::century},
    {"cent", TimeUnit::century},
    {"centuries", TimeUnit::century},
    {"century", TimeUnit::century},
    {"d", TimeUnit::day},
    {"day", TimeUnit::day},
    {"days", TimeUnit::day},
    {"dec", TimeUnit::decade},
    {"decade", TimeUnit::decade},
    {"decades", TimeUnit::decade},
    {"decs", TimeUnit::decade},
    {"dow", TimeUnit::dow},
    {"doy", TimeUnit::doy},
    {"epoch", TimeUnit::epoch},
    {"h", TimeUnit::hour},
    {"hour", TimeUnit::hour},
    {"hours", TimeUnit::hour},
    {"hr", TimeUnit::hour},
    {"hrs", TimeUnit::hour},
    {"isodow", TimeUnit::isodow},
    {"isoyear", TimeUnit::isoyear},
    {"j", TimeUnit::julian},
    {"jd", TimeUnit::julian},
    {"julian", TimeUnit::julian},
    {"m", TimeUnit::minute},
    {"microsecon", TimeUnit::microsecond},
    {"mil", TimeUnit::millennium},
    {"millennia", TimeUnit::millennium},
    {"millennium", TimeUnit::millennium},
    {"millisecon", TimeUnit::millisecond},
    {"mils", TimeUnit::millennium},
    {"min", TimeUnit::minute},
    {"mins", TimeUnit::minute},
    {"minute", TimeUnit::minute},
    {"minutes", TimeUnit::minute},
    {"mon", TimeUnit::month},
    {"mons", TimeUnit::month},
    {"month", TimeUnit::month},
    {"months", TimeUnit::month},
    {"ms", TimeUnit::millisecond},
    {"msec", TimeUnit::millisecond},
    {"msecs", TimeUnit::millisecond},
    {"mseconds", TimeUnit::millisecond},
    {"qtr", TimeUnit::quarter},
    {"quarter", TimeUnit::quarter},
    {"s", TimeUnit::second},
    {"sec", TimeUnit::second},
    {"second", TimeUnit::second},
    {"seconds", TimeUnit::second},
    {"secs", TimeUnit::second},
    {"timezone", TimeUnit::timezone},
    {"timezone_h", TimeUnit::timezone_hour},
    {"timezone_m", TimeUnit::timezone_minute},
    {"us", TimeUnit::microsecond},
    {"usec", TimeUnit::microsecond},
    {"usecond", TimeUnit::microsecond},
    {"useconds", TimeUnit::microsecond},
    {"usecs", TimeUnit::microsecond},
    {"w", TimeUnit::week},
    {"week", TimeUnit::week},
    {"weeks", TimeUnit::week},
    {"y", TimeUnit::year},
    {"year", TimeUnit::year},
    {"years", TimeUnit::year},
    {"yr", TimeUnit::year},
    {"yrs", TimeUnit::year},
};

constexpr size_t significant_letters = 10;

std::string lower(std::string_view word) {
  std::string folded(word);
  std::transform(folded.begin(), folded.end(), folded.begin(), lower_letter);
  return folded;
}

}  // namespace

TimeUnit find_time_unit(std::string_view word) {
  std::string folded = lower(word.substr(0, significant_letters));
  auto found = std::lower_bound(
      std::begin(spellings), std::end(spellings), folded,
      [](const Spelling& entry, const std::string& wanted) { return entry.word < wanted; });
  return found != std::end(spellings) && found->word == folded ? found->unit : TimeUnit::none;
}

void throw_unit_not_recognized(std::string_view word, std::string_view type) {
  throw SqlError(sqlstate::invalid_parameter_value,
                 concat("unit \"", lower(word), "\" not recognized for type ", type));
}

void throw_unit_not_supported(std::string_view word, std::string_view type) {
  throw SqlError(sqlstate::feature_not_supported,
                 concat("unit \"", lower(word), "\" not supported for type ", type));
}

}  // namespace pgsilo
