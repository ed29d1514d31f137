#include "executor/functions/date_template.h"

#include "base/long_work.h"
#include "sql/types/scan.h"
#include "sql/types/text.h"

namespace pgsilo {
namespace {

struct Keyword {
  std::string_view word;
  DatePattern pattern;
  uint8_t digits = 0;
  bool any_case = true;  // the same pattern in lower-case letters; names show their case
  LetterCase letters = LetterCase::upper;
};

// Longer words before their prefixes.
constexpr Keyword keywords[] = {
    {"A.M.", DatePattern::meridiem_dotted, 0, false, LetterCase::upper},
    {"P.M.", DatePattern::meridiem_dotted, 0, false, LetterCase::upper},
    {"a.m.", DatePattern::meridiem_dotted, 0, false, LetterCase::lower},
    {"p.m.", DatePattern::meridiem_dotted, 0, false, LetterCase::lower},
    {"A.D.", DatePattern::era_dotted, 0, false, LetterCase::upper},
    {"B.C.", DatePattern::era_dotted, 0, false, LetterCase::upper},
    {"a.d.", DatePattern::era_dotted, 0, false, LetterCase::lower},
    {"b.c.", DatePattern::era_dotted, 0, false, LetterCase::lower},
    {"AM", DatePattern::meridiem, 0, false, LetterCase::upper},
    {"PM", DatePattern::meridiem, 0, false, LetterCase::upper},
    {"am", DatePattern::meridiem, 0, false, LetterCase::lower},
    {"pm", DatePattern::meridiem, 0, false, LetterCase::lower},
    {"AD", DatePattern::era, 0, false, LetterCase::upper},
    {"BC", DatePattern::era, 0, false, LetterCase::upper},
    {"ad", DatePattern::era, 0, false, LetterCase::lower},
    {"bc", DatePattern::era, 0, false, LetterCase::lower},
    {"CC", DatePattern::century},
    {"DAY", DatePattern::day_name, 0, false, LetterCase::upper},
    {"Day", DatePattern::day_name, 0, false, LetterCase::capital},
    {"day", DatePattern::day_name, 0, false, LetterCase::lower},
    {"DDD", DatePattern::day_of_year},
    {"DD", DatePattern::day_of_month},
    {"DY", DatePattern::day_name_short, 0, false, LetterCase::upper},
    {"Dy", DatePattern::day_name_short, 0, false, LetterCase::capital},
    {"dy", DatePattern::day_name_short, 0, false, LetterCase::lower},
    {"D", DatePattern::day_of_week},
    {"FF1", DatePattern::fraction, 1},
    {"FF2", DatePattern::fraction, 2},
    {"FF3", DatePattern::fraction, 3},
    {"FF4", DatePattern::fraction, 4},
    {"FF5", DatePattern::fraction, 5},
    {"FF6", DatePattern::fraction, 6},
    {"FX", DatePattern::exact},
    {"HH24", DatePattern::hour24},
    {"HH12", DatePattern::hour12},
    {"HH", DatePattern::hour12},
    {"IDDD", DatePattern::iso_day_of_year},
    {"ID", DatePattern::iso_day_of_week},
    {"IW", DatePattern::iso_week},
    {"IYYY", DatePattern::iso_year, 4},
    {"IYY", DatePattern::iso_year, 3},
    {"IY", DatePattern::iso_year, 2},
    {"I", DatePattern::iso_year, 1},
    {"J", DatePattern::julian},
    {"MI", DatePattern::minute},
    {"MM", DatePattern::month},
    {"MONTH", DatePattern::month_name, 0, false, LetterCase::upper},
    {"Month", DatePattern::month_name, 0, false, LetterCase::capital},
    {"month", DatePattern::month_name, 0, false, LetterCase::lower},
    {"MON", DatePattern::month_name_short, 0, false, LetterCase::upper},
    {"Mon", DatePattern::month_name_short, 0, false, LetterCase::capital},
    {"mon", DatePattern::month_name_short, 0, false, LetterCase::lower},
    {"MS", DatePattern::fraction, 3},
    {"OF", DatePattern::zone_offset},
    {"Q", DatePattern::quarter},
    {"RM", DatePattern::month_roman, 0, false, LetterCase::upper},
    {"rm", DatePattern::month_roman, 0, false, LetterCase::lower},
    {"SSSSS", DatePattern::seconds_of_day},
    {"SSSS", DatePattern::seconds_of_day},
    {"SS", DatePattern::second},
    {"TZH", DatePattern::zone_hours},
    {"TZM", DatePattern::zone_minutes},
    {"TZ", DatePattern::zone_name, 0, false, LetterCase::upper},
    {"tz", DatePattern::zone_name, 0, false, LetterCase::lower},
    {"US", DatePattern::fraction, 6},
    {"WW", DatePattern::week_of_year},
    {"W", DatePattern::week_of_month},
    {"Y,YYY", DatePattern::year_with_comma},
    {"YYYY", DatePattern::year, 4},
    {"YYY", DatePattern::year, 3},
    {"YY", DatePattern::year, 2},
    {"Y", DatePattern::year, 1},
};

bool begins_in_small_letters(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    if (text[i] != lower_letter(word[i])) return false;
  }
  return true;
}

const Keyword* find_keyword(std::string_view text) {
  for (const Keyword& keyword : keywords) {
    if (text.starts_with(keyword.word) ||
        (keyword.any_case && begins_in_small_letters(text, keyword.word)))
      return &keyword;
  }
  return nullptr;
}

// In capitals or in small letters, not mixed.
bool take(std::string_view* text, std::string_view upper, std::string_view lower) {
  if (!text->starts_with(upper) && !text->starts_with(lower)) return false;
  text->remove_prefix(upper.size());
  return true;
}

void take_character(std::string_view* text, DateTemplateNode* node) {
  node->text = text->substr(0, text_prefix_bytes(*text, 1));
  text->remove_prefix(node->text.size());
}

bool is_name(DatePattern pattern) {
  return pattern == DatePattern::day_name || pattern == DatePattern::day_name_short ||
         pattern == DatePattern::month_name || pattern == DatePattern::month_name_short;
}

}  // namespace

AskingVector<DateTemplateNode> parse_date_template(std::string_view text) {
  AskingVector<DateTemplateNode> nodes;
  WorkMeter meter;
  while (!text.empty()) {
    meter.did(256);
    DateTemplateNode node;
    node.fill_mode = take(&text, "FM", "fm");
    bool translated = !node.fill_mode && take(&text, "TM", "tm");
    if (const Keyword* keyword = find_keyword(text); keyword != nullptr) {
      node.pattern = keyword->pattern;
      node.letters = keyword->letters;
      node.digits = keyword->digits;
      node.text = text.substr(0, keyword->word.size());
      text.remove_prefix(keyword->word.size());
      node.fill_mode |= translated && is_name(node.pattern);
      node.ordinal_lower = text.starts_with("th");
      node.ordinal = take(&text, "TH", "th");
      if (!node.ordinal && text.starts_with("SP")) text.remove_prefix(2);
      nodes.push_back(node);
      continue;
    }
    if (text.empty()) break;
    if (text.front() == '"') {
      // Up to the closing quote; a backslash takes the next character as it is.
      text.remove_prefix(1);
      node.quoted = true;
      while (!text.empty() && text.front() != '"') {
        if (text.front() == '\\' && text.size() > 1) text.remove_prefix(1);
        take_character(&text, &node);
        nodes.push_back(node);
      }
      if (!text.empty()) text.remove_prefix(1);
      continue;
    }
    if (text.front() == '\\' && text.size() > 1 && text[1] == '"') text.remove_prefix(1);
    take_character(&text, &node);
    nodes.push_back(node);
  }
  return nodes;
}

}  // namespace pgsilo
