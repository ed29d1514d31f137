#include "planner/statistics/pattern_selectivity.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "planner/access/like_prefix.h"
#include "sql/types/type.h"
#include "sql/types/type_oid.h"

namespace pgsilo {

namespace {

// PostgreSQL's like_support.c: how much a part of a pattern narrows down, or widens.
constexpr double fixed_character = 0.20;
constexpr double character_class = 0.25;
constexpr double any_character = 0.9;
constexpr double any_text = 5.0;
constexpr double repetition = 2.0;
constexpr double default_match = 0.005;
constexpr double least_match = 0.0001;

bool is_letter(char each) {
  return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
         static_cast<unsigned char>(each) >= 0x80;
}

// What LIKE asks behind its fixed beginning. Wildcards that follow it at once say nothing new.
double like_rest(std::string_view pattern) {
  size_t begin = std::min(pattern.find_first_not_of("%_"), pattern.size());
  double part = 1;
  for (size_t i = begin; i < pattern.size(); ++i) {
    if (pattern[i] == '%') {
      part *= any_text;
    } else if (pattern[i] == '_') {
      part *= any_character;
    } else {
      if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
      part *= fixed_character;
    }
  }
  return std::min(part, 1.0);
}

size_t end_of_class(std::string_view pattern, size_t begin) {
  size_t at = begin + 1;
  if (at < pattern.size() && pattern[at] == '^') ++at;
  if (at < pattern.size() && pattern[at] == ']') ++at;
  while (at < pattern.size() && pattern[at] != ']') ++at;
  return at;
}

// The least of the alternatives counts for nothing: they add up.
double regular_expression_rest(std::string_view pattern) {
  double sum = 0;
  double part = 1;
  bool is_open = true;
  for (size_t i = 0; i < pattern.size(); ++i) {
    char each = pattern[i];
    if (each == '|') {
      sum += part * any_text;
      part = 1;
    } else if (each == '[') {
      part *= character_class;
      i = end_of_class(pattern, i);
    } else if (each == '.') {
      part *= any_character;
    } else if (each == '*' || each == '+' || each == '?') {
      part *= repetition;
    } else if (each == '{') {
      i = std::min(pattern.find('}', i), pattern.size() - 1);
      part *= repetition;
    } else if (each == '$' && i + 1 == pattern.size()) {
      is_open = false;
    } else if (each != '(' && each != ')' && each != '^') {
      if (each == '\\' && i + 1 < pattern.size()) ++i;
      part *= fixed_character;
    }
  }
  return std::min(sum + (is_open ? part * any_text : part), 1.0);
}

void set_beginning(PatternShape& shape, std::string_view text) {
  std::string escaped;
  for (char each : text) {
    if (each == '%' || each == '_' || each == '\\') escaped += '\\';
    escaped += each;
  }
  LikePrefix prefix = like_prefix(escaped);
  shape.beginning = prefix.text;
  shape.end = prefix.end;
}

bool is_repetition(char each) { return each == '*' || each == '+' || each == '?' || each == '{'; }

// Plain characters behind a ^; one that may be repeated need not come.
std::string_view plain_beginning(std::string_view pattern, bool ignore_case) {
  size_t at = 0;
  auto is_plain = [&](char each) {
    return (is_letter(each) && !ignore_case) || (each >= '0' && each <= '9') || each == ' ' ||
           each == '-' || each == '_' || each == '/' || each == ':' || each == '@';
  };
  while (at < pattern.size() && is_plain(pattern[at])) ++at;
  bool repeated = at < pattern.size() && is_repetition(pattern[at]);
  return pattern.substr(0, repeated && at > 0 ? at - 1 : at);
}

KnownValue text_value(const std::string& text) {
  return {&type_info(type_oid::text), Datum::of_bytes(text)};
}

// Of the values that are not common, those that begin as the pattern does.
double beginning_part(const KnownColumn& column, const PatternShape& shape) {
  if (shape.beginning.empty()) return 1;
  bool is_text = column.sample->type->key_form == KeyForm::text;
  if (!is_text || column.sample->bounds.size() < 2) return default_match;
  double from = *below_in_bounds(column, text_value(shape.beginning), false);
  double to = shape.end.empty() ? 1 : *below_in_bounds(column, text_value(shape.end), false);
  double rest = std::max(0.0, column.not_null() - common_part(*column.sample));
  return std::max({to - from, rest / other_values(column), least_match});
}

// The bounds are some of the values: which of them match tells more than how the pattern looks, if
// there are enough. The outermost ones are no average values.
double part_of_others(const KnownColumn& column, const PatternShape& shape,
                      const std::function<bool(Datum)>& matches) {
  constexpr size_t fewest = 10;
  constexpr double enough = 100;
  double by_looks = beginning_part(column, shape) * shape.rest;
  std::span<const Datum> bounds = column.sample->bounds;
  if (bounds.size() < fewest) return by_looks;
  std::span<const Datum> inner = bounds.subspan(1, bounds.size() - 2);
  auto matched = static_cast<double>(std::count_if(inner.begin(), inner.end(), matches));
  double part = matched / static_cast<double>(inner.size());
  double weight = std::min(1.0, static_cast<double>(bounds.size()) / enough);
  return part * weight + by_looks * (1 - weight);
}

}  // namespace

PatternShape like_shape(std::string_view pattern, bool ignore_case) {
  PatternShape shape;
  size_t at = 0;
  std::string fixed;
  for (; at < pattern.size() && pattern[at] != '%' && pattern[at] != '_'; ++at) {
    bool escaped = pattern[at] == '\\' && at + 1 < pattern.size();
    char each = pattern[escaped ? at + 1 : at];
    if (ignore_case && is_letter(each)) break;
    if (escaped) ++at;
    fixed += each;
  }
  shape.is_exact = at == pattern.size();
  set_beginning(shape, fixed);
  shape.rest = like_rest(pattern.substr(at));
  return shape;
}

PatternShape regular_expression_shape(std::string_view pattern, bool ignore_case) {
  PatternShape shape;
  bool is_fixed = pattern.starts_with('^') && pattern.find('|') == std::string_view::npos;
  std::string_view fixed =
      is_fixed ? plain_beginning(pattern.substr(1), ignore_case) : std::string_view();
  set_beginning(shape, fixed);
  std::string_view rest = pattern.substr(is_fixed ? fixed.size() + 1 : 0);
  shape.is_exact = is_fixed && rest == "$" && !fixed.empty();
  shape.rest = regular_expression_rest(rest);
  return shape;
}

double matching_part(const KnownColumn& column, const PatternShape& shape,
                     const std::function<bool(Datum)>& matches) {
  bool known = column.knows_values();
  bool is_text = known && column.sample->type->key_form == KeyForm::text;
  if (shape.is_exact && (is_text || !known))
    return known ? equal_to_value(column, text_value(shape.beginning)) : equal_to_unknown(column);
  if (!known) return default_match;
  double others = std::clamp(part_of_others(column, shape, matches), least_match, 1 - least_match);
  double common = 0;
  for (size_t i = 0; i < column.sample->common.size(); ++i) {
    if (matches(column.sample->common[i])) common += column.sample->frequencies[i];
  }
  double rest = std::max(0.0, column.not_null() - common_part(*column.sample));
  return std::clamp(common + rest * others, 0.0, 1.0);
}

}  // namespace pgsilo
