// Where a match is: whether, then its begin, then its end.
#include "base/large_stack.h"
#include "sql/regex/dfa_run.h"
#include "sql/regex/regex.h"
#include "sql/regex/regex_error.h"

namespace pgsilo::regex {

using Direction = Automata::Direction;
using Begin = Automata::Begin;

Matcher::Matcher(Regex& regex, std::string_view text, Patience patience)
    : program_(*regex.program_),
      automata_(*regex.automata_),
      subject_(program_, automata_, text, patience),
      groups_(program_.groups + 1) {
  regex.drop_half_made();
}

// The mark stays when an exception ends the match.
template <typename Match>
bool Matcher::matching(Match match) {
  automata_.set_matching(true);
  bool result = match();
  automata_.set_matching(false);
  return result;
}

bool Matcher::exists(size_t start) {
  return matching([&] {
    if (program_.has_back_references()) return find_now(start, Groups::none);
    Dfa& search = automata_.of(part(program_.root), Direction::forward, Begin::anywhere);
    return search.first_match(subject_, start, subject_.size()) != Dfa::nowhere;
  });
}

bool Matcher::find(size_t start, Groups groups) {
  return matching([&] { return find_now(start, groups); });
}

bool Matcher::find_now(size_t start, Groups groups) {
  if (program_.has_back_references()) return find_by_search(start);
  size_t begin = find_begin(start);
  if (begin == Dfa::nowhere) return false;
  size_t end = find_end(begin);
  if (end == Dfa::nowhere) throw_failed(error::cannot_happen);
  groups_.assign(groups_.size(), Range());
  groups_[0] = {begin, end};
  if (groups == Groups::all && groups_.size() > 1) dissect(program_.root, begin, end);
  return true;
}

// A longest match is known to be that only when nothing can follow: which may cost a look at all of
// the text behind it, for each match of many. Then one run backwards, from all ends at once, tells
// for each position what can.
size_t Matcher::find_end(size_t begin) {
  const Part& root = part(program_.root);
  Dfa& automaton = forward(root);
  size_t size = subject_.size();
  if (prefers_shortest()) return automaton.first_match(subject_, begin, size);
  if (ends_ == Ends::recorded && !ends_record_.automaton->knows(ends_record_)) {
    ends_ = Ends::unknown;
    end_work_ = 0;
  }
  if (end_work_ >= subject_.patience().limit(size) && ends_ == Ends::unknown) {
    Dfa& all_ends =
        automata_.of(root, Direction::backward, Begin::anywhere, Automata::Members::all);
    ends_ =
        all_ends.record(subject_, size, begin, ends_record_) ? Ends::recorded : Ends::not_recorded;
  }
  size_t end = Dfa::nowhere;
  if (ends_ == Ends::recorded) {
    automaton.run_to_meet(subject_, begin, size, ends_record_, [&](size_t at) {
      end = at;
      return true;
    });
    return end;
  }
  end = automaton.last_match(subject_, begin, size);
  end_work_ += automaton.last_steps() - (end - begin);
  return end;
}

// Of the leftmost match.
size_t Matcher::find_begin(size_t start) {
  if (begins_known_) return begins_.next(start, subject_.size());
  Dfa& search = automata_.of(part(program_.root), Direction::forward, Begin::anywhere);
  size_t close = search.first_match(subject_, start, subject_.size());
  if (close == Dfa::nowhere) return Dfa::nowhere;
  size_t open = search.last_cold();
  return open == close ? open : earliest_of(open, close);
}

// The match that ends first ends at `close`; none begins before `open`. The leftmost one may be
// longer than that which ends first, and begin before it. To see so may cost a look at all that
// follows, again and again: then all begins are found at once.
size_t Matcher::earliest_of(size_t open, size_t close) {
  size_t begin = backward(part(program_.root)).last_match(subject_, close, open);
  Dfa& automaton = forward(part(program_.root));
  for (size_t earlier = open; earlier < begin; earlier = subject_.behind(earlier)) {
    if (begin_work_ >= subject_.patience().limit(subject_.size())) {
      find_all_begins(open);
      return begins_.next(open, subject_.size());
    }
    if (automaton.first_match(subject_, earlier, subject_.size()) != Dfa::nowhere) return earlier;
    begin_work_ += automaton.last_steps() + 1;
  }
  return begin;
}

// A match begins where the automaton, run backwards from all ends at once, comes to its begin.
void Matcher::find_all_begins(size_t start) {
  begins_.clear(start, subject_.size());
  automata_.of(part(program_.root), Direction::backward, Begin::anywhere)
      .run(subject_, subject_.size(), start, [&](size_t at) {
        begins_.add(at);
        return true;
      });
  begins_known_ = true;
}

}  // namespace pgsilo::regex
