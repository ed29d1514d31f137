// The functions regexp_*.
#include <algorithm>
#include <string>
#include <vector>

#include "base/asking_allocator.h"
#include "base/long_work.h"
#include "executor/functions/function.h"
#include "executor/functions/regular_expression.h"
#include "sql/sql_error.h"
#include "sql/types/array.h"
#include "sql/types/text.h"

namespace pgsilo::functions {
namespace {

using std::string_view;
using Groups = TextMatches::Groups;

int32_t checked(const Datum& value, const char* name, int32_t least, int32_t most = INT32_MAX) {
  auto number = static_cast<int32_t>(value.i64);
  if (number >= least && number <= most) return number;
  throw SqlError(sqlstate::invalid_parameter_value,
                 concat("invalid value for parameter \"", name, "\": ", number));
}

RegexFlags flags_without_global(string_view letters, const char* function, const char* hint = "") {
  RegexFlags flags = parse_regex_flags(letters);
  if (!flags.global) return flags;
  throw SqlError(sqlstate::invalid_parameter_value,
                 concat(function, " does not support the \"global\" option"))
      .hint(hint);
}

string_view flags_at(const Datum* a, size_t count, size_t index) {
  return index < count ? a[index].bytes() : string_view();
}

// 1-based, in characters.
Datum position(string_view text, size_t at) {
  return Datum::of_int(int64_t{text_length(text.substr(0, at))} + 1);
}

void append_value(string_view value, AskingString& out) {
  in_blocks(value.size(),
            [&](size_t begin, size_t end) { out += value.substr(begin, end - begin); });
}

// Appends `replacement` with \1..\9 and \& put in.
void append_replacement(string_view replacement, const TextMatches& matches, AskingString& out,
                        WorkMeter& meter) {
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
    if (group > matches.group_count() || !matches.group(group).is_set()) continue;
    append_value(matches.piece(matches.group(group)), out);
  }
}

bool refers_to_groups(string_view replacement) {
  for (size_t i = 0; i + 1 < replacement.size(); ++i) {
    if (replacement[i] != '\\') continue;
    char code = replacement[++i];
    if (code >= '1' && code <= '9') return true;
  }
  return false;
}

// Match number `which` is replaced, or all of them (0).
Datum replaced(EvalContext& context, const Datum* a, const regex::Options& options, int32_t start,
               int32_t which) {
  string_view text = a[0].bytes();
  string_view replacement = a[2].bytes();
  TextMatches matches(text, a[1].bytes(), options,
                      refers_to_groups(replacement) ? Groups::all : Groups::none, start);
  AskingString out;
  size_t copied = 0;
  bool any = false;
  WorkMeter meter;
  for (int32_t number = 1; matches.next(); ++number) {
    meter.did(128);
    if (which > 0 && number != which) continue;
    if (!any) out.reserve(text.size());
    any = true;
    TextMatches::Range match = matches.match();
    append_value(text.substr(copied, match.begin - copied), out);
    append_replacement(replacement, matches, out, meter);
    copied = match.end;
    if (which > 0) break;
  }
  if (!any) return a[0];
  append_value(text.substr(copied), out);
  return Datum::of_bytes(copy_value(out, *context.arena));
}

Datum regexp_replace(EvalContext& context, const Datum* a) {
  return replaced(context, a, {}, 0, 1);
}
Datum regexp_replace_with_flags(EvalContext& context, const Datum* a) {
  string_view letters = a[3].bytes();
  if (!letters.empty() && letters[0] >= '0' && letters[0] <= '9') {
    throw SqlError(sqlstate::invalid_parameter_value,
                   concat("invalid regular expression option: \"", letters[0], "\""))
        .hint(
            "If you meant to use regexp_replace() with a start parameter, cast the fourth argument "
            "to integer explicitly.");
  }
  RegexFlags flags = parse_regex_flags(letters);
  return replaced(context, a, flags.options, 0, flags.global ? 0 : 1);
}
template <size_t count>
Datum regexp_replace_from(EvalContext& context, const Datum* a) {
  int32_t start = checked(a[3], "start", 1);
  int32_t which = count > 4 ? checked(a[4], "n", 0) : 1;
  RegexFlags flags = parse_regex_flags(flags_at(a, count, 5));
  return replaced(context, a, flags.options, start - 1, which);
}

template <size_t count>
Datum regexp_count(EvalContext&, const Datum* a) {
  int32_t start = count > 2 ? checked(a[2], "start", 1) : 1;
  RegexFlags flags = flags_without_global(flags_at(a, count, 3), "regexp_count()");
  TextMatches matches(a[0].bytes(), a[1].bytes(), flags.options, Groups::none, start - 1);
  int64_t found = 0;
  WorkMeter meter;
  for (; matches.next(); ++found) meter.did(64);
  return Datum::of_int(found);
}

template <size_t count>
Datum regexp_like(EvalContext&, const Datum* a) {
  RegexFlags flags = flags_without_global(flags_at(a, count, 2), "regexp_like()");
  CachedRegex regex(a[1].bytes(), flags.options);
  return Datum::of_bool(regex::Matcher(*regex, a[0].bytes()).exists(0));
}

// Match number `which`, or a capture of it where there are captures; false: there is none such.
bool find_part(TextMatches& matches, int32_t which, int32_t capture, TextMatches::Range* found) {
  WorkMeter meter;
  for (; which > 0; --which) {
    meter.did(64);
    if (!matches.next()) return false;
  }
  auto wanted = static_cast<size_t>(capture);
  if (wanted > std::max<size_t>(1, matches.group_count())) return false;
  *found = matches.group(matches.group_count() == 0 ? 0 : wanted);
  return found->is_set();
}

template <size_t count>
Datum regexp_instr(EvalContext&, const Datum* a) {
  int32_t start = count > 2 ? checked(a[2], "start", 1) : 1;
  int32_t which = count > 3 ? checked(a[3], "n", 1) : 1;
  int32_t end = count > 4 ? checked(a[4], "endoption", 0, 1) : 0;
  int32_t capture = count > 6 ? checked(a[6], "subexpr", 0) : 0;
  RegexFlags flags = flags_without_global(flags_at(a, count, 5), "regexp_instr()");
  TextMatches matches(a[0].bytes(), a[1].bytes(), flags.options,
                      capture > 0 ? Groups::all : Groups::none, start - 1);
  TextMatches::Range found;
  if (!find_part(matches, which, capture, &found)) return Datum::of_int(0);
  return position(matches.text(), end == 1 ? found.end : found.begin);
}

template <size_t count>
Datum regexp_substr(EvalContext&, const Datum* a) {
  int32_t start = count > 2 ? checked(a[2], "start", 1) : 1;
  int32_t which = count > 3 ? checked(a[3], "n", 1) : 1;
  int32_t capture = count > 5 ? checked(a[5], "subexpr", 0) : 0;
  RegexFlags flags = flags_without_global(flags_at(a, count, 4), "regexp_substr()");
  TextMatches matches(a[0].bytes(), a[1].bytes(), flags.options,
                      capture > 0 ? Groups::all : Groups::none, start - 1);
  TextMatches::Range found;
  return find_part(matches, which, capture, &found) ? matches.value(found) : Datum();
}

template <size_t count>
Datum regexp_match(EvalContext& context, const Datum* a) {
  RegexFlags flags = flags_without_global(flags_at(a, count, 2), "regexp_match()",
                                          "Use the regexp_matches function instead.");
  TextMatches matches(a[0].bytes(), a[1].bytes(), flags.options, Groups::all);
  return matches.next() ? matches.captures(*context.arena) : Datum();
}

template <size_t count>
Datum regexp_split_to_array(EvalContext& context, const Datum* a) {
  RegexFlags flags = flags_without_global(flags_at(a, count, 2), "regexp_split_to_array()");
  TextMatches matches(a[0].bytes(), a[1].bytes(), flags.options, Groups::none);
  AskingVector<Datum> pieces;
  size_t begin = 0;
  WorkMeter meter;
  while (matches.next_that_splits()) {
    meter.did(64);
    pieces.push_back(Datum::of_bytes(matches.piece({begin, matches.match().begin})));
    begin = matches.match().end;
  }
  pieces.push_back(Datum::of_bytes(matches.text().substr(begin)));
  return make_array(type_oid::text, pieces, *context.arena);
}

constexpr FunctionEntry entries[] = {
    {2284, regexp_replace},           {2285, regexp_replace_with_flags},
    {6253, regexp_replace_from<4>},   {6252, regexp_replace_from<5>},
    {6251, regexp_replace_from<6>},   {6254, regexp_count<2>},
    {6255, regexp_count<3>},          {6256, regexp_count<4>},
    {6257, regexp_instr<2>},          {6258, regexp_instr<3>},
    {6259, regexp_instr<4>},          {6260, regexp_instr<5>},
    {6261, regexp_instr<6>},          {6262, regexp_instr<7>},
    {6263, regexp_like<2>},           {6264, regexp_like<3>},
    {3396, regexp_match<2>},          {3397, regexp_match<3>},
    {2767, regexp_split_to_array<2>}, {2768, regexp_split_to_array<3>},
    {6265, regexp_substr<2>},         {6266, regexp_substr<3>},
    {6267, regexp_substr<4>},         {6268, regexp_substr<5>},
    {6269, regexp_substr<6>},
};

}  // namespace

std::span<const FunctionEntry> regexp() { return entries; }

}  // namespace pgsilo::functions
