// Regular expressions: PostgreSQL's syntax on PCRE2. Thread safety: one owner.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/asking_allocator.h"

namespace pgsilo {

class RegularExpression {
 public:
  static constexpr size_t unset = ~size_t{0};
  struct Range {
    size_t begin = unset;  // unset: the group took no part
    size_t end = unset;
  };

  // For texts of so many bytes. Throws 2201B `invalid regular expression: ...`.
  RegularExpression(std::string_view pattern, bool ignore_case, size_t text_bytes);
  ~RegularExpression();

  // Looks for a match that begins at `start` or later; 2201B when the pattern needs too many steps.
  bool search(std::string_view text, size_t start);
  // Of the last successful search; group 0 is the whole match.
  Range group(size_t index) const;
  size_t group_count() const;  // without group 0

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// SIMILAR TO: an SQL pattern with `escape` (one character, or none for no escape) as a regular
// expression that matches whole strings. 22025 for a longer escape.
AskingString similar_to_regular_expression(std::string_view pattern, std::string_view escape);

}  // namespace pgsilo
