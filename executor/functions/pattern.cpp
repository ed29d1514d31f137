// LIKE, SIMILAR TO and regular expressions.
#include "executor/functions/function.h"
#include "executor/functions/regular_expression.h"
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
  CachedRegex regex(a[1].bytes(), {.ignore_case = ignore_case});
  return Datum::of_bool(regex::Matcher(*regex, a[0].bytes()).exists(0) != negated);
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
  TextMatches matches(text, pattern, {}, TextMatches::Groups::all);
  if (!matches.next()) return Datum();
  return matches.value(matches.group(matches.group_count() > 0 ? 1 : 0));
}
Datum regular_substring(EvalContext&, const Datum* a) {
  return substring_of_match(a[0].bytes(), a[1].bytes());
}
Datum similar_substring(EvalContext&, const Datum* a) {
  return substring_of_match(a[0].bytes(),
                            similar_to_regular_expression(a[1].bytes(), a[2].bytes()));
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
};

}  // namespace

std::span<const FunctionEntry> pattern() { return entries; }

}  // namespace pgsilo::functions
