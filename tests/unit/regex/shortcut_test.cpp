// What is mostly quick finds the same as what takes its place in long texts: random patterns and
// texts, once with all patience and once with none.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/unit/regex/regex_support.h"

namespace pgsilo::testing {
namespace {

using regex::Matcher;
using regex::Regex;

class RandomPattern {
 public:
  explicit RandomPattern(unsigned seed) : random_(seed) {}

  std::string alternation(int depth) {
    std::string made = branch(depth);
    for (int i = below(3); i > 0; --i) made += "|" + branch(depth);
    return made;
  }
  std::string text() {
    std::string made;
    for (int i = below(30); i > 0; --i) made += one_of("ab", "b ", "a", "ba\n", "é");
    return made;
  }

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  template <typename... Choices>
  std::string one_of(Choices... choices) {
    const char* const all[] = {choices...};
    return all[below(sizeof...(choices))];
  }
  std::string branch(int depth) {
    std::string made;
    for (int i = below(4); i > 0; --i) made += item(depth);
    return made;
  }
  std::string item(int depth) {
    switch (depth > 0 ? below(10) : 9) {
      case 0:
        return one_of("(?=", "(?!", "(?<=", "(?<!") + alternation(depth - 1) + ")";
      case 1:
        return one_of("^", "$", "\\m", "\\M", "\\y", "\\Y");
      case 2:
      case 3:
        return "(" + alternation(depth - 1) + ")" + quantifier();
      case 4:
        return "(?:" + alternation(depth - 1) + ")" + quantifier();
      default:
        return one_of("a", "b", "a", "b", ".", "[ab]", "[^a]") + quantifier();
    }
  }
  std::string quantifier() {
    return one_of("", "", "", "*", "+", "?", "*?", "+?", "?\?", "{2}", "{0,3}", "{1,2}?");
  }
  std::mt19937 random_;
};

std::string all_matches(std::string_view pattern, std::string_view text, regex::Patience patience) {
  Regex regex(pattern, {});
  Matcher matcher(regex, text, patience);
  std::string found;
  for (size_t start = 0; start <= text.size() && matcher.find(start, Matcher::Groups::all);) {
    Matcher::Range match = matcher.group(0);
    for (size_t i = 0; i <= matcher.group_count(); ++i)
      found += piece(text, matcher.group(i)) + (i == matcher.group_count() ? ";" : "|");
    start = match.end;
    if (match.begin == match.end)
      start += match.end < text.size() ? character_bytes(text, match.end) : 1;
  }
  return found;
}

TEST(RegexShortcutTest, FindTheSame) {
  RandomPattern random(1);
  for (int i = 0; i < 4'000; ++i) {
    std::string pattern = random.alternation(3);
    std::string text = random.text();
    ASSERT_EQ(all_matches(pattern, text, {.times = 0, .more = 0}), all_matches(pattern, text, {}))
        << pattern << " in " << text;
  }
}

}  // namespace
}  // namespace pgsilo::testing
