// How much work matching is, that it gives way, and that it can be ended.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

#include "base/memory_budget.h"
#include "tests/unit/base/counted_pauses.h"
#include "tests/unit/regex/regex_support.h"

namespace pgsilo::testing {
namespace {

using regex::Matcher;
using regex::Regex;

std::string repeated(std::string_view part, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += part;
  return text;
}

// All matches with their captures, in blocks of work.
int work(std::string_view pattern, std::string_view text) {
  CountedPauses pauses;
  pauses.last = std::numeric_limits<int>::max();
  run_with(pauses, [&] {
    Regex regex(pattern, {});
    Matcher matcher(regex, text);
    for (size_t start = 0; start <= text.size() && matcher.find(start, Matcher::Groups::all);) {
      Matcher::Range match = matcher.group(0);
      start = match.end > match.begin ? match.end : match.end + 1;
    }
  });
  return pauses.count;
}

// Patterns that other engines, or a simpler one of this kind, need time for that grows with a power
// of the text's length, or exponentially.
TEST(RegexWorkTest, GrowsWithTheText) {
  struct Case {
    const char* pattern;
    const char* text;
    const char* end;
  };
  for (const Case& one : {
           Case{"^(a+)+$", "a", "b"},
           Case{"^(a|aa)+$", "a", "b"},
           Case{"^a*a*a*a*[bc]", "a", ""},
           Case{"(.*)(.*)(.*)(.*)x", "ab", ""},
           Case{"(a*)(a*)(a*)(b)", "a", "b"},
           Case{"a.*z|b", "ab", ""},
           Case{"(?=.*z)a", "ab", ""},
           Case{"a(?<=z.*)", "ab", ""},
           Case{"((?!zz).)*", "ab", ""},
           Case{"(a|ab)*c", "ab", "c"},
           Case{"([ab]|(abc))*", "ab", ""},
           Case{"(?:(a)|(b)){0,200}", "ab", ""},
           Case{"\\ma\\M", "a b ", ""},
           // What may follow, and does not, is looked for behind each match and each repetition.
           Case{"a.*z|a", "ab", ""},
           Case{"\\ma.*z|\\ma", "a b ", ""},
           Case{"(a|a[ab]*c)*b", "a", "b"},
           Case{"(?:(a)|(b)|\\y[ab]*c)*", "ab", ""},
       }) {
    int small = work(one.pattern, repeated(one.text, 10'000) + one.end);
    int large = work(one.pattern, repeated(one.text, 40'000) + one.end);
    EXPECT_LE(large, 6 * small + 20) << one.pattern << ": " << small;
  }
}

TEST(RegexWorkTest, EndsWithWhatAPauseThrows) {
  std::string text = repeated("ab", 5'000'000);
  // In states of all kinds: nothing has begun, something has, and two that match in turn.
  for (const char* pattern : {"c", "b[ab]*c", "(?:ab)*a?", "\\y[ab]+"}) {
    CountedPauses pauses;
    pauses.last = 3;
    bool came_to_its_end = false;
    run_with(pauses, [&] {
      Regex regex(pattern, {});
      Matcher(regex, text).find(0, Matcher::Groups::none);
      came_to_its_end = true;
    });
    EXPECT_EQ(pauses.count, 3) << pattern;
    EXPECT_FALSE(came_to_its_end) << pattern;
  }
}

// Nobody is suspended while he makes what others of the thread then wait for. (Tests that ran
// before in the process may have made it.)
TEST(RegexWorkTest, ClassesAreMadeWithoutPause) {
  for (auto which : {regex::CharacterClass::word, regex::CharacterClass::alpha}) {
    CountedPauses pauses;
    run_with(pauses, [&] {
      while (pauses.count == 0) did_work(64);
      did_work(WorkMeter::block - 64);  // the next work pauses
      regex::class_codes(which);
    });
    EXPECT_EQ(pauses.count, 1);
  }
}

// Wherever a match is ended, later ones of the same pattern find what is right.
TEST(RegexWorkTest, WhatWasEndedLeavesNothingHalfMade) {
  const std::string text = repeated("ab", 20) + "abaac";
  for (const std::string& pattern :
       {repeated("(?:a|b|[ab]?)", 2000) + "c", "\\y" + repeated("(?:a|b|\\Ya?)", 1000) + "c"}) {
    int ended = 0;
    for (int last = 1; last <= 30 && ended == last - 1; ++last) {
      CountedPauses pauses;
      pauses.last = last;
      bool came_to_its_end = false;
      Regex regex(pattern, {});  // outside of the fiber: only matching is ended
      run_with(pauses, [&] {
        Matcher(regex, text).exists(0);
        came_to_its_end = true;
      });
      if (!came_to_its_end) ++ended;
      for (std::string_view other : {"abab", "abc", "", "abaaacc"})
        EXPECT_EQ(Matcher(regex, other).exists(0), other.ends_with('c')) << other << " " << last;
    }
    EXPECT_GT(ended, 3);
  }
}

// The states that such a text leads to do not fit: they are made, forgotten and made again.
TEST(RegexWorkTest, StatesAreForgotten) {
  std::mt19937 random(1);
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "ab"[random() % 2];
  constexpr size_t behind = 17;
  size_t expected = 0;
  for (size_t i = 0; i + behind < text.size(); ++i)
    if (text[i] == 'a' && text[i + behind] == 'a') expected = i;
  Regex regex("(.*)a(.{16})a.*", {});
  Matcher matcher(regex, text);
  for (int times = 0; times < 2; ++times) {
    ASSERT_TRUE(matcher.find(0, Matcher::Groups::all));
    EXPECT_EQ(matcher.group(1).end, expected);
    EXPECT_EQ(matcher.group(2).begin, expected + 1);
  }
  EXPECT_LT(regex.bytes(), size_t{32} << 20);
}

// After states were forgotten there is room for as many again.
TEST(RegexWorkTest, StatesAreKeptAfterOthersWereForgotten) {
  std::mt19937 random(1);
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "ab"[random() % 2];
  std::string piece;
  for (int i = 0; i < 50; ++i) piece += "ab"[random() % 2];
  const char* pattern = "a[ab]{40}c";
  int before = work(pattern, many);
  int behind = work(pattern, many + repeated(piece, 10'000)) - before;
  EXPECT_LE(behind, 4 * work(pattern, repeated(piece, 10'000)) + 20) << before;
}

// Automata of the rest of a long pattern, by the thousand.
TEST(RegexWorkTest, AutomataShareABudget) {
  const std::string text(2000, 'a');
  Regex regex(repeated("(a)", 2000), {});
  Matcher matcher(regex, text);
  ASSERT_TRUE(matcher.find(0, Matcher::Groups::all));
  EXPECT_EQ(matcher.group(1999).begin, 1998);
  EXPECT_LT(regex.bytes(), size_t{80} << 20);
}

TEST(RegexWorkTest, AutomataAskForMemory) {
  MemoryCeiling ceiling(size_t{1} << 30, 1, [] {
    return MemoryUsage{.used = size_t{1} << 30, .mapped = size_t{1} << 30};
  });
  const std::string text(1000, 'a');
  Regex regex("^" + repeated("(a)", 1000), {});  // none of them is large
  {
    MemoryBudget budget(ceiling, 0);
    MemoryBudget::Use use(budget);
    EXPECT_THROW(Matcher(regex, text).find(0, Matcher::Groups::all), MemoryLimitReached);
  }
  EXPECT_TRUE(Matcher(regex, text).find(0, Matcher::Groups::all));
}

// Sets of long lists, and many different ones, take what is in proportion to what is in them.
TEST(RegexWorkTest, BracketsDoNotPileUp) {
  MemoryCeiling ceiling(size_t{1} << 30, 1, [] {
    return MemoryUsage{.used = size_t{1016} << 20, .mapped = size_t{1016} << 20};
  });
  {
    MemoryBudget budget(ceiling, 0);
    MemoryBudget::Use use(budget);
    EXPECT_EQ(found("[" + repeated("\\w", 10'000) + "]", "-a"), "a");
  }
  std::string many;
  for (uint32_t code = 0xe000; code < 0xe000 + 3000; ++code) {
    char bytes[4];
    many += "[^[:alpha:]";
    many.append(bytes, put_code_point(bytes, code));
    many += ']';
  }
  EXPECT_EQ(found(many, "a"), "invalid regular expression: regular expression is too complex");
}

TEST(RegexWorkTest, NestingIsNoDanger) {
  EXPECT_EQ(found(repeated("(", 2000) + "a" + repeated(")", 2000), "a").size(), 2001 * 2 - 1);
  std::string deep = repeated("(", 3'000'000) + "a" + repeated(")", 3'000'000);
  EXPECT_EQ(found(deep, "a"), "invalid regular expression: regular expression is too complex");
  EXPECT_EQ(found(repeated("(?#)", 1'000'000) + "a", "a"), "a");
  // Of the search that back references need.
  EXPECT_EQ(found("()" + repeated("(?:(a)|b)", 2000) + "\\1", std::string(2000, 'b')).size(),
            2000 + 1 + 2000 * 2);
}

TEST(RegexWorkTest, ManyCharactersOfTheirOwn) {
  std::string pattern;
  for (uint32_t code = 0x4e00; code < 0x4e00 + 20'000; ++code) {
    char bytes[4];
    pattern.append(bytes, put_code_point(bytes, code));
    pattern += '|';
  }
  EXPECT_EQ(found(pattern + "x", "yx"), "x");
  EXPECT_EQ(found("(?:" + pattern + "x)z", "yzx"), "none");
}

}  // namespace
}  // namespace pgsilo::testing
