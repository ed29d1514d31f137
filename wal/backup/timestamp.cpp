#include "wal/backup/timestamp.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <optional>

namespace pgsilo {
namespace {

constexpr int64_t second_us = 1'000'000;

// Takes characters off its text, from the left.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void take_blanks() {
    while (take(" ")) {
    }
  }
  std::optional<unsigned> digit() {
    if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9') return std::nullopt;
    auto value = static_cast<unsigned>(rest_.front() - '0');
    rest_.remove_prefix(1);
    return value;
  }
  // Of exactly so many digits, at most `largest`.
  bool number(int digits, unsigned largest, int64_t* value) {
    *value = 0;
    for (int i = 0; i < digits; ++i) {
      std::optional<unsigned> next = digit();
      if (!next) return false;
      *value = *value * 10 + *next;
    }
    return *value <= largest;
  }

 private:
  std::string_view rest_;
};

bool read_day(TextReader& text, int64_t* days) {
  int64_t year = 0;
  int64_t month = 0;
  int64_t day = 0;
  if (!text.number(4, 9999, &year) || !text.take("-") || !text.number(2, 12, &month) ||
      !text.take("-") || !text.number(2, 31, &day)) {
    return false;
  }
  std::chrono::year_month_day date(std::chrono::year(static_cast<int>(year)),
                                   std::chrono::month(static_cast<unsigned>(month)),
                                   std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return false;
  *days = std::chrono::sys_days(date).time_since_epoch().count();
  return true;
}

bool read_fraction(TextReader& text, int64_t* us) {
  std::optional<unsigned> digit = text.digit();
  if (!digit) return false;
  for (int64_t unit = second_us / 10; digit; digit = text.digit(), unit /= 10) *us += unit * *digit;
  return true;
}

bool read_time_of_day(TextReader& text, int64_t* us) {
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
  if (!text.number(2, 23, &hour) || !text.take(":") || !text.number(2, 59, &minute)) return false;
  if (text.take(":") && !text.number(2, 59, &second)) return false;
  *us = ((hour * 60 + minute) * 60 + second) * second_us;
  return !text.take(".") || read_fraction(text, us);
}

// How far east of Greenwich.
bool read_zone(TextReader& text, int64_t* us) {
  *us = 0;
  if (text.take("Z") || text.take("UTC")) return true;
  bool west = text.take("-");
  int64_t hour = 0;
  int64_t minute = 0;
  if ((!west && !text.take("+")) || !text.number(2, 15, &hour)) return false;
  if ((text.take(":") || !text.at_end()) && !text.number(2, 59, &minute)) return false;
  *us = (hour * 60 + minute) * 60 * second_us * (west ? -1 : 1);
  return true;
}

}  // namespace

std::string timestamp_text(uint64_t unix_us) {
  std::chrono::sys_seconds moment(std::chrono::seconds(static_cast<int64_t>(unix_us) / second_us));
  auto day = std::chrono::floor<std::chrono::days>(moment);
  std::chrono::year_month_day date(day);
  std::chrono::hh_mm_ss time(moment - day);
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u %02d:%02d:%02d.%06u",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()),
                static_cast<unsigned>(unix_us % second_us));
  std::string trimmed = text.data();
  trimmed.erase(trimmed.find_last_not_of('0') + 1);
  if (trimmed.ends_with('.')) trimmed.pop_back();
  return trimmed + "+00";
}

bool parse_timestamp(std::string_view text, uint64_t* unix_us) {
  TextReader reader(text);
  int64_t days = 0;
  int64_t us = 0;
  int64_t east_us = 0;
  if (!read_day(reader, &days) || !(reader.take(" ") || reader.take("T")) ||
      !read_time_of_day(reader, &us)) {
    return false;
  }
  reader.take_blanks();
  if (!read_zone(reader, &east_us) || !reader.at_end()) return false;
  int64_t moment = days * 86400 * second_us + us - east_us;
  *unix_us = static_cast<uint64_t>(moment);
  return moment >= 0;
}

}  // namespace pgsilo
