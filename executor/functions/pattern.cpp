// LIKE, SIMILAR TO and regular expressions.
#include <algorithm>
#include <string>

#include "base/asking_allocator.h"
#include "base/long_work.h"
#include "executor/functions/function.h"
#include "executor/functions/regular_expression.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"

namespace pgsilo::functions {
namespace {

using std::string_view;

// bpchar counts with its blanks in patterns; name is text.
template <bool ignore_case, bool negated>
Datum like(EvalContext& context, const Datum* a) {
  return Datum::of_bool(text_like(a[0].bytes(), a[1].bytes(), ignore_case, *context.arena) !=
                        negated);
}
template <bool ignore_case, bool negated>
Datum matches(EvalContext&, const Datum* a) {
  RegularExpression expression(a[1].bytes(), ignore_case, a[0].length);
  return Datum::of_bool(expression.search(a[0].bytes(), 0) != negated);
}

Datum escaped_like_pattern(EvalContext& context, const Datum* a) {
  return Datum::of_bytes(like_escape(a[0].bytes(), a[1].bytes(), *context.arena));
}
Datum similar_pattern(EvalContext& context, const Datum* a) {
  return Datum::of_bytes(
      context.arena->copy_string(similar_to_regular_expression(a[0].bytes(), "\\")));
}
Datum similar_pattern_with_escape(EvalContext& context, const Datum* a) {
  return Datum::of_bytes(
      context.arena->copy_string(similar_to_regular_expression(a[0].bytes(), a[1].bytes())));
}

// The first group, or the whole match when there is none; null without a match.
Datum substring_of_match(string_view text, string_view pattern) {
  RegularExpression expression(pattern, false, text.size());
  if (!expression.search(text, 0)) return Datum();
  RegularExpression::Range range = expression.group(expression.group_count() > 0 ? 1 : 0);
  if (range.begin == RegularExpression::unset) return Datum();
  return Datum::of_bytes(text.substr(range.begin, range.end - range.begin));
}
Datum regular_substring(EvalContext&, const Datum* a) {
  return substring_of_match(a[0].bytes(), a[1].bytes());
}
Datum similar_substring(EvalContext&, const Datum* a) {
  return substring_of_match(a[0].bytes(),
                            similar_to_regular_expression(a[1].bytes(), a[2].bytes()));
}

void append_value(string_view value, AskingString& out) {
  in_blocks(value.size(),
            [&](size_t begin, size_t end) { out += value.substr(begin, end - begin); });
}

// Appends `replacement` with \1..\9 and \& put in.
void append_replacement(string_view replacement, string_view text,
                        const RegularExpression& expression, AskingString& out, WorkMeter& meter) {
  for (size_t i = 0; i < replacement.size(); ++i) {
    meter.did(16);
    if (replacement[i] != '\\' || i + 1 == replacement.size()) {
      out += replacement[i];
      continue;
    }
    char code = replacement[++i];
    if (code != '&' && (code < '1' || code > '9')) {
      if (code != '\\') out += '\\';
      out += code;
      continue;
    }
    size_t group = code == '&' ? 0 : static_cast<size_t>(code - '0');
    if (group > expression.group_count()) continue;
    RegularExpression::Range range = expression.group(group);
    if (range.begin != RegularExpression::unset)
      append_value(text.substr(range.begin, range.end - range.begin), out);
  }
}

Datum replaced(EvalContext& context, const Datum* a, bool global, bool ignore_case) {
  string_view text = a[0].bytes();
  RegularExpression expression(a[1].bytes(), ignore_case, text.size());
  AskingString out;
  size_t copied = 0;
  size_t start = 0;
  WorkMeter meter;
  while (start <= text.size() && expression.search(text, start)) {
    RegularExpression::Range match = expression.group(0);
    if (out.empty()) out.reserve(text.size());
    append_value(text.substr(copied, match.begin - copied), out);
    append_replacement(a[2].bytes(), text, expression, out, meter);
    copied = match.end;
    meter.did(match.end - start + 128);
    if (!global) break;
    // An empty match moves on by one character, or it would be found again.
    start = match.end > match.begin
                ? match.end
                : match.end + std::max<size_t>(1, text_prefix_bytes(text.substr(match.end), 1));
  }
  if (copied == 0 && out.empty()) return a[0];
  append_value(text.substr(copied), out);
  return Datum::of_bytes(copy_value(out, *context.arena));
}

Datum regexp_replace(EvalContext& context, const Datum* a) {
  return replaced(context, a, false, false);
}
Datum regexp_replace_with_flags(EvalContext& context, const Datum* a) {
  bool global = false;
  bool ignore_case = false;
  std::string_view flags = a[3].bytes();
  for (size_t i = 0; i < flags.size(); ++i) {
    switch (flags[i]) {
      case 'g':
        global = true;
        break;
      case 'i':
        ignore_case = true;
        break;
      case 'c':
        ignore_case = false;
        break;
      case 's':
        break;  // the default
      default:
        throw SqlError(sqlstate::invalid_parameter_value,
                       concat("invalid regular expression option: \"",
                              flags.substr(i, text_prefix_bytes(flags.substr(i), 1)), "\""));
    }
  }
  return replaced(context, a, global, ignore_case);
}

constexpr FunctionEntry entries[] = {
    {850, like<false, false>},                                 // text
    {851, like<false, true>},     {1569, like<false, false>},  // like()
    {1570, like<false, true>},                                 // notlike()
    {1633, like<true, false>},    {1634, like<true, true>},
    {858, like<false, false>},  // name
    {859, like<false, true>},     {1571, like<false, false>},
    {1572, like<false, true>},    {1635, like<true, false>},
    {1636, like<true, true>},     {1631, like<false, false>},  // bpchar
    {1632, like<false, true>},    {1660, like<true, false>},
    {1661, like<true, true>},     {1254, matches<false, false>},  // text
    {1256, matches<false, true>}, {1238, matches<true, false>},
    {1239, matches<true, true>},  {79, matches<false, false>},  // name
    {1252, matches<false, true>}, {1240, matches<true, false>},
    {1241, matches<true, true>},  {1658, matches<false, false>},  // bpchar
    {1659, matches<false, true>}, {1656, matches<true, false>},
    {1657, matches<true, true>},  {1637, escaped_like_pattern},
    {1987, similar_pattern},      {1986, similar_pattern_with_escape},
    {2073, regular_substring},    {2074, similar_substring},
    {2284, regexp_replace},       {2285, regexp_replace_with_flags},
};

}  // namespace

std::span<const FunctionEntry> pattern() { return entries; }

}  // namespace pgsilo::functions
