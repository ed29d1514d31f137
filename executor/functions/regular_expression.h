// Regular expressions as functions have them: their flags, patterns that stay compiled, and a
// text's matches one after the other. Thread safety: one owner.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "base/asking_allocator.h"
#include "sql/regex/regex.h"
#include "sql/types/datum.h"

namespace pgsilo {

// A compiled pattern, taken from those that the thread keeps, to which it goes back: whoever may be
// suspended has it alone.
class CachedRegex {
 public:
  // Throws 2201B `invalid regular expression: ...`.
  CachedRegex(std::string_view pattern, regex::Options options);
  ~CachedRegex();
  CachedRegex(const CachedRegex&) = delete;
  CachedRegex& operator=(const CachedRegex&) = delete;
  regex::Regex& operator*() { return *kept_.regex; }

  struct Kept {
    std::string pattern;
    regex::Options options;
    size_t bytes = 0;
    std::unique_ptr<regex::Regex> regex;
  };

 private:
  Kept kept_;
};

struct RegexFlags {
  regex::Options options;
  bool global = false;
};
// 22023 for a letter that is none.
RegexFlags parse_regex_flags(std::string_view flags);

// The matches of a text in order, from its character `start` (0-based) on. The text outlives it.
class TextMatches {
 public:
  using Range = regex::Matcher::Range;
  using Groups = regex::Matcher::Groups;

  TextMatches(std::string_view text, std::string_view pattern, const regex::Options& options,
              Groups groups, int32_t start = 0);
  bool next();
  // Not those that are empty at either end of the text or just behind the one before.
  bool next_that_splits();

  std::string_view text() const { return text_; }
  Range match() const { return matcher_.group(0); }
  Range group(size_t index) const { return matcher_.group(index); }
  size_t group_count() const { return matcher_.group_count(); }
  std::string_view piece(Range range) const {
    return text_.substr(range.begin, range.end - range.begin);
  }
  // Null for a group that took no part.
  Datum value(Range range) const {
    return range.is_set() ? Datum::of_bytes(piece(range)) : Datum();
  }
  // text[] of the captures, or of the whole match where there are none.
  Datum captures(Arena& arena) const;

 private:
  std::string_view text_;
  CachedRegex regex_;
  regex::Matcher matcher_;
  Groups groups_;
  size_t next_;  // behind the text's end: no more
};

// SIMILAR TO: an SQL pattern with `escape` (one character, or none for no escape) as a regular
// expression that matches whole strings. 22025 for a longer escape.
AskingString similar_to_regular_expression(std::string_view pattern, std::string_view escape);

}  // namespace pgsilo
