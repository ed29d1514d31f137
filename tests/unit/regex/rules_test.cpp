// PostgreSQL's rules of what matches: each answer is PostgreSQL 15's.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/regex/regex_support.h"

namespace pgsilo::testing {
namespace {

const std::string invalid = "invalid regular expression: ";

TEST(RegexRulesTest, TheWholePrefersLongOrShort) {
  EXPECT_EQ(found("foo|foobar", "foobar"), "foobar");
  EXPECT_EQ(found("a|ab|abc", "abcd"), "abc");
  EXPECT_EQ(found("Y*([0-9]{1,3})", "XY1234Z"), "Y123|123");
  EXPECT_EQ(found("Y*?([0-9]{1,3})", "XY1234Z"), "Y1|1");
  EXPECT_EQ(found("(?:(.*?)(\\d+)(.*)){1,1}", "abc01234xyz"), "abc01234xyz|abc|01234|xyz");
  EXPECT_EQ(found("(.*?)(\\d+)(.*)", "abc01234xyz"), "abc0|abc|0|");
  EXPECT_EQ(found("(?:(.*)(\\d+)(.*))", "abc01234xyz"), "abc01234xyz|abc0123|4|xyz");
  EXPECT_EQ(found("(a|ab)(c|bcd)?", "abcabc"), "abc|ab|c");
  // The leftmost match ends behind another one.
  EXPECT_EQ(found("a.*z|b", "abz"), "abz");
  EXPECT_EQ(found("a.*z|b", "aby"), "b");
  // {m} has its atom's preference, {m,m} one of its own.
  EXPECT_EQ(found("(a?\?){2}b*", "aabb"), "|");
  EXPECT_EQ(found("(?:a?\?){2,2}", "aa"), "aa");
}

TEST(RegexRulesTest, EarlierPartsComeFirst) {
  EXPECT_EQ(found("(a*)(ab)*(b*)", "abb"), "abb|a|-|bb");
  EXPECT_EQ(found("(a*?)(ab)*(b*)$", "abb"), "abb||ab|b");
  EXPECT_EQ(found("(week|wee)(night|knights)", "weeknights"), "weeknights|wee|knights");
  EXPECT_EQ(found("(x(y)?|xyz)*", "xyxyz"), "xyxyz|xyz|-");
  EXPECT_EQ(found("((a)|(b))*", "ab"), "ab|b|-|b");
  EXPECT_EQ(found("(a|ab|b)+", "ab"), "ab|b");
  EXPECT_EQ(found("(a|ab|b)*", "ab"), "ab|ab");
}

TEST(RegexRulesTest, RepetitionsOfNothing) {
  EXPECT_EQ(found("(a?)*", ""), "|");
  EXPECT_EQ(found("(a)*", ""), "|-");
  EXPECT_EQ(found("((a)?)*", ""), "||-");
  EXPECT_EQ(found("([ab]*?)*?", "b"), "|-");
  EXPECT_EQ(found("(b)((\\1)*)*", "b"), "b|b||-");
  EXPECT_EQ(found("(a){0}\\1", "a"), "none");
  EXPECT_EQ(found("^(a?){3}$", "aa"), "aa|");
  // More often than a bound can say.
  EXPECT_EQ(found("(a|ab)*c$", std::string(600, 'a') + "abc"), std::string(600, 'a') + "abc|ab");
}

TEST(RegexRulesTest, BackReferences) {
  EXPECT_EQ(found("([bc])\\1", "abccb"), "cc|c");
  EXPECT_EQ(found("(a*)b\\1", "aabaaab"), "aabaa|aa");
  EXPECT_EQ(found("(a|ab)\\1{2}c", "ababababc"), "abababc|ab");
  EXPECT_EQ(found("(\\w)\\1", "aAbB", {.ignore_case = true}), "aA|a");
  EXPECT_EQ(found("(^a)\\1", "aa"), "aa|a");
  EXPECT_EQ(found("a\\1", "a"), invalid + "invalid backreference number");
  EXPECT_EQ(found("(a\\1)", "a"), invalid + "invalid backreference number");
  EXPECT_EQ(found("(a)(?=\\1)", "aa"), invalid + "invalid backreference number");
  // \1 with more digits behind it is octal unless there are as many groups.
  EXPECT_EQ(found("(a)\\12", "a\n"), "a\n|a");
}

TEST(RegexRulesTest, PlacesAndLookarounds) {
  EXPECT_EQ(found("\\mb\\w+\\M", "abc bcd"), "bcd");
  EXPECT_EQ(found("[[:<:]]b.*?[[:>:]]", "ab bcd e"), "bcd");
  EXPECT_EQ(found("\\y\\d+\\y", "a1 12"), "12");
  EXPECT_EQ(found("a\\Yb", "ab"), "ab");
  EXPECT_EQ(found("(?<=a)b", "bab"), "b");
  EXPECT_EQ(found("(?<!a)b", "abb"), "b");
  EXPECT_EQ(found("a(?=b(?!c))", "abcab"), "a");
  EXPECT_EQ(found("(?=(a))a", "a"), "a");  // captures nothing
  EXPECT_EQ(found("^b", "a\nb"), "none");
  EXPECT_EQ(found("(?w)^b$", "a\nb\nc"), "b");
  EXPECT_EQ(found("(?n)\\Ab", "a\nb"), "none");
  EXPECT_EQ(found("(?p)a.b", "a\nb"), "none");
  EXPECT_EQ(found("(?p)[^a]+", "b\nc"), "b");
  EXPECT_EQ(found("(?p)\\W", "b\n"), "\n");
  // What lies before `start` is seen.
  EXPECT_EQ(found("^b|\\mb", "ab", {}, 1), "none");
  EXPECT_EQ(found("(?<=a)b", "ab", {}, 1), "b");
}

TEST(RegexRulesTest, CharactersAndClasses) {
  EXPECT_EQ(found("[[:alpha:]]+", "1äß€😀z"), "äß");
  EXPECT_EQ(found("[^[:alpha:]]+", "1äß€😀z"), "1");
  EXPECT_EQ(found("[€-😀]+", "1äß€😀z"), "€😀");
  EXPECT_EQ(found("[[.hyphen.]-0]+", "a-./01"), "-./0");
  EXPECT_EQ(found("[[=a=]b]+", "cab"), "ab");
  EXPECT_EQ(found("[]a]+", "b]a"), "]a");
  EXPECT_EQ(found("[a\\]]+", "b]a"), "]a");
  EXPECT_EQ(found("[\\D]+", "12ab"), "ab");
  EXPECT_EQ(found("\\x61\\u0062\\U00000063\\144", "abcd"), "abcd");
  EXPECT_EQ(found("ÄÖ", "xäö", {.ignore_case = true}), "äö");
  EXPECT_EQ(found("[à-ý]+", "ÀÝ", {.ignore_case = true}), "ÀÝ");
  EXPECT_EQ(found("[[:lower:]]+", "aB", {.ignore_case = true}), "aB");
}

TEST(RegexRulesTest, SyntaxesAndOptions) {
  EXPECT_EQ(found("***=a.*", "aba.*"), "a.*");
  EXPECT_EQ(found("***:(?x) a b # c\n d", "abd"), "abd");
  EXPECT_EQ(found("(?x)a\\ b", "a b"), "a b");
  EXPECT_EQ(found("(?q)a(b", "a(b"), "a(b");
  EXPECT_EQ(found("(?e)a\\d", "ad"), "ad");
  EXPECT_EQ(found("a\\(b*\\)*", "abb", {.syntax = regex::Syntax::basic}), "abb|bb");
  EXPECT_EQ(found("*a\\{2\\}", "*aa", {.syntax = regex::Syntax::basic}), "*aa");
  EXPECT_EQ(found("a)", "a)", {.syntax = regex::Syntax::extended}), "a)");
  EXPECT_EQ(found("a(?#b)*", "aa"), "aa");
  EXPECT_EQ(found("a{,2}", "a{,2}"), "a{,2}");
}

struct Refused {
  const char* pattern;
  const char* what;
};
const Refused refused[] = {
    {"(a", "parentheses () not balanced"},
    {"a)", "parentheses () not balanced"},
    {"[a", "brackets [] not balanced"},
    {"[[:alpha:", "brackets [] not balanced"},
    {"a{1", "braces {} not balanced"},
    {"a{2,1}", "invalid repetition count(s)"},
    {"a{256}", "invalid repetition count(s)"},
    {"*a", "quantifier operand invalid"},
    {"a**", "quantifier operand invalid"},
    {"a++", "quantifier operand invalid"},
    {"^*", "quantifier operand invalid"},
    {"x(?P<x>f)", "quantifier operand invalid"},
    {"a|*", "quantifier operand invalid"},
    {"[[:nix:]]", "invalid character class"},
    {"[[.nix.]]", "invalid collating element"},
    {"[b-a]", "invalid character range"},
    {"[a-b-c]", "invalid character range"},
    {"\\q", "invalid escape \\ sequence"},
    {"a\\", "invalid escape \\ sequence"},
    {"\\u12", "invalid escape \\ sequence"},
    {"(?P<x>f)", "invalid embedded option"},
    {"(?z)a", "invalid embedded option"},
    {"***a", "quantifier operand invalid"},
    {"***?", "invalid regexp (reg version 0.8)"},
    {"(((a{255}){255}){255}){255}", "regular expression is too complex"},
};

TEST(RegexRulesTest, Errors) {
  for (const Refused& one : refused)
    EXPECT_EQ(found(one.pattern, ""), invalid + one.what) << one.pattern;
}

}  // namespace
}  // namespace pgsilo::testing
