#include "sql/types/date_time_words.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "sql/sql_error.h"
#include "sql/types/scan.h"
#include "sql/types/text.h"

namespace pgsilo {

namespace {

struct WordEntry {
  std::string_view text;
  WordKind kind;
  int value;
};

constexpr WordEntry words[] = {
    {"ad", WordKind::era, 0},
    {"allballs", WordKind::allballs, 0},
    {"am", WordKind::meridian, 0},
    {"apr", WordKind::month, 4},
    {"april", WordKind::month, 4},
    {"at", WordKind::ignored, 0},
    {"aug", WordKind::month, 8},
    {"august", WordKind::month, 8},
    {"bc", WordKind::era, 1},
    {"d", WordKind::unit, 2},
    {"dec", WordKind::month, 12},
    {"december", WordKind::month, 12},
    {"dow", WordKind::other_unit, 0},
    {"doy", WordKind::other_unit, 0},
    {"dst", WordKind::dst_modifier, 3600},
    {"epoch", WordKind::epoch, 0},
    {"feb", WordKind::month, 2},
    {"february", WordKind::month, 2},
    {"fri", WordKind::weekday, 5},
    {"friday", WordKind::weekday, 5},
    {"h", WordKind::unit, 3},
    {"infinity", WordKind::infinity, 0},
    {"isodow", WordKind::other_unit, 0},
    {"isoyear", WordKind::other_unit, 0},
    {"j", WordKind::julian_label, 0},
    {"jan", WordKind::month, 1},
    {"january", WordKind::month, 1},
    {"jd", WordKind::julian_label, 0},
    {"jul", WordKind::month, 7},
    {"julian", WordKind::julian_label, 0},
    {"july", WordKind::month, 7},
    {"jun", WordKind::month, 6},
    {"june", WordKind::month, 6},
    {"m", WordKind::unit, 1},
    {"mar", WordKind::month, 3},
    {"march", WordKind::month, 3},
    {"may", WordKind::month, 5},
    {"mm", WordKind::unit, 4},
    {"mon", WordKind::weekday, 1},
    {"monday", WordKind::weekday, 1},
    {"nov", WordKind::month, 11},
    {"november", WordKind::month, 11},
    {"now", WordKind::now, 0},
    {"oct", WordKind::month, 10},
    {"october", WordKind::month, 10},
    {"on", WordKind::ignored, 0},
    {"pm", WordKind::meridian, 1},
    {"s", WordKind::unit, 5},
    {"sat", WordKind::weekday, 6},
    {"saturday", WordKind::weekday, 6},
    {"sep", WordKind::month, 9},
    {"sept", WordKind::month, 9},
    {"september", WordKind::month, 9},
    {"sun", WordKind::weekday, 0},
    {"sunday", WordKind::weekday, 0},
    {"t", WordKind::iso_time, 0},
    {"thu", WordKind::weekday, 4},
    {"thur", WordKind::weekday, 4},
    {"thurs", WordKind::weekday, 4},
    {"thursday", WordKind::weekday, 4},
    {"today", WordKind::today, 0},
    {"tomorrow", WordKind::tomorrow, 0},
    {"tue", WordKind::weekday, 2},
    {"tues", WordKind::weekday, 2},
    {"tuesday", WordKind::weekday, 2},
    {"wed", WordKind::weekday, 3},
    {"wednesday", WordKind::weekday, 3},
    {"weds", WordKind::weekday, 3},
    {"y", WordKind::unit, 0},
    {"yesterday", WordKind::yesterday, 0},
};

struct UnitEntry {
  std::string_view text;
  TimeUnit unit;
};

constexpr UnitEntry interval_units[] = {
    {"ago", TimeUnit::ago},
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
    {"h", TimeUnit::hour},
    {"hour", TimeUnit::hour},
    {"hours", TimeUnit::hour},
    {"hr", TimeUnit::hour},
    {"hrs", TimeUnit::hour},
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
    {"mseconds", TimeUnit::millisecond},
    {"msecs", TimeUnit::millisecond},
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

// Units of extract() that intervals do not have.
constexpr UnitEntry extract_units[] = {
    {"dow", TimeUnit::day_of_week},  {"doy", TimeUnit::day_of_year},
    {"epoch", TimeUnit::epoch},      {"isodow", TimeUnit::iso_day_of_week},
    {"isoyear", TimeUnit::iso_year}, {"j", TimeUnit::julian},
    {"jd", TimeUnit::julian},        {"julian", TimeUnit::julian},
};

template <typename Entry>
constexpr bool by_text(const Entry& left, const Entry& right) {
  return left.text < right.text;
}
static_assert(std::is_sorted(std::begin(words), std::end(words), by_text<WordEntry>));
static_assert(std::is_sorted(std::begin(interval_units), std::end(interval_units),
                             by_text<UnitEntry>));
static_assert(std::is_sorted(std::begin(extract_units), std::end(extract_units),
                             by_text<UnitEntry>));

template <typename Entry, size_t count>
const Entry* find_in(const Entry (&entries)[count], std::string_view text) {
  text = text.substr(0, max_word_letters);
  const Entry* found =
      std::lower_bound(entries, entries + count, text,
                       [](const Entry& entry, std::string_view key) { return entry.text < key; });
  return found != entries + count && found->text == text ? found : nullptr;
}

}  // namespace

Word find_word(std::string_view text) {
  if (text == "-infinity") return {WordKind::minus_infinity, 0};
  const WordEntry* entry = find_in(words, text);
  return entry == nullptr ? Word{} : Word{entry->kind, entry->value};
}

TimeUnit find_interval_unit(std::string_view text) {
  const UnitEntry* entry = find_in(interval_units, text);
  return entry == nullptr ? TimeUnit::unknown : entry->unit;
}

namespace {

// The letters of a word that count, in lower case.
struct LowerWord {
  explicit LowerWord(std::string_view text) : length(std::min(text.size(), max_word_letters)) {
    std::transform(text.begin(), text.begin() + static_cast<ptrdiff_t>(length), letters,
                   lower_letter);
  }
  std::string_view view() const { return {letters, length}; }
  size_t length;
  char letters[max_word_letters];
};

}  // namespace

TimeUnit find_trunc_unit(std::string_view text) {
  TimeUnit unit = find_interval_unit(LowerWord(text).view());
  return unit == TimeUnit::ago ? TimeUnit::unknown : unit;
}

TimeUnit find_extract_unit(std::string_view text) {
  TimeUnit unit = find_trunc_unit(text);
  if (unit != TimeUnit::unknown) return unit;
  const UnitEntry* entry = find_in(extract_units, LowerWord(text).view());
  return entry == nullptr ? TimeUnit::unknown : entry->unit;
}

// PostgreSQL folds the word to lower case before it complains.
static std::string lower_word(std::string_view word) {
  constexpr size_t longest = 63;  // as identifiers
  std::string lower(text_clip(word, longest));
  std::transform(lower.begin(), lower.end(), lower.begin(), lower_letter);
  return lower;
}

void throw_unit_not_recognized(std::string_view word, std::string_view type_name) {
  throw SqlError(sqlstate::invalid_parameter_value,
                 concat("unit \"", lower_word(word), "\" not recognized for type ", type_name));
}

void throw_unit_not_supported(std::string_view word, std::string_view type_name) {
  throw SqlError(sqlstate::feature_not_supported,
                 concat("unit \"", lower_word(word), "\" not supported for type ", type_name));
}

}  // namespace pgsilo
