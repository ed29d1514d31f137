// How often a part with back references repeats in a range, and where: internal to sql/regex.
// Thread safety: one owner.
#pragma once

#include "sql/regex/regex.h"

namespace pgsilo::regex {

class RepetitionSearch {
 public:
  RepetitionSearch(Matcher& matcher, const Part& whole, size_t begin, size_t end);
  // Tries divisions by the repeated part's preference, and each piece of one that it allows for
  // what it captures.
  bool run();

 private:
  bool take_piece();
  bool set_back();
  size_t find_end();
  bool all_fit();
  // An empty piece is tried only where there is no other way to have enough of them.
  bool may_be_empty(size_t number, size_t from) const;

  Matcher& matcher_;
  const Part& whole_;
  const size_t begin_;
  const size_t end_;
  const bool shortest_;
  const size_t least_;
  size_t most_;
  Dfa& automaton_;
  // Where pieces end; at first, where the first begins.
  AskingVector<size_t> ends_;
  size_t verified_ = 0;  // so many pieces fit
  size_t limit_;  // the next piece ends there at most (at least, if short ones are preferred)
};

}  // namespace pgsilo::regex
