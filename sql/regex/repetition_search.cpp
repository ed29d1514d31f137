#include "sql/regex/repetition_search.h"

#include <algorithm>

#include "sql/regex/dfa_run.h"

namespace pgsilo::regex {

RepetitionSearch::RepetitionSearch(Matcher& matcher, const Part& whole, size_t begin, size_t end)
    : matcher_(matcher),
      whole_(whole),
      begin_(begin),
      end_(end),
      shortest_(matcher.part(whole.first).traits.has(Traits::shortest)),
      least_(std::max<size_t>(whole.least, 1)),
      most_(0),
      automaton_(matcher.forward(matcher.part(whole.first))),
      ends_{begin},
      limit_(shortest_ ? begin : end) {
  const Subject& subject = matcher.subject_;
  size_t bound = whole.most == unbounded ? Dfa::nowhere : whole.most;
  for (size_t at = begin; at != end && most_ < bound; at = subject.behind(at)) ++most_;
  most_ = std::max(most_, least_);
}

bool RepetitionSearch::run() {
  if (whole_.least == 0 && begin_ == end_) {
    // Once, if long matches are preferred and that fits, or else not at all.
    if (shortest_ || !automaton_.matches(matcher_.subject_, begin_, end_) ||
        !matcher_.fits(whole_.first, begin_, end_))
      matcher_.forget_groups(whole_.first);
    return true;
  }
  for (;;) {
    matcher_.meter_.did(128);
    if (!take_piece()) {
      if (!set_back()) return false;
      continue;
    }
    if (ends_.back() != end_) {
      limit_ = shortest_ ? ends_.back() : end_;
      continue;
    }
    if (ends_.size() - 1 >= least_ && all_fit()) return true;
    if (!set_back()) return false;
  }
}

// False: set back what is last now.
bool RepetitionSearch::take_piece() {
  size_t number = ends_.size();
  size_t from = ends_.back();
  size_t end = find_end();
  if (end == Dfa::nowhere) return false;
  verified_ = std::min(verified_, number - 1);
  if (end != end_ && number >= most_) return false;
  ends_.push_back(end);
  return shortest_ || end == end_ || end != from || may_be_empty(number, from);
}

size_t RepetitionSearch::find_end() {
  size_t number = ends_.size();
  size_t from = ends_.back();
  Subject& subject = matcher_.subject_;
  if (!shortest_) return automaton_.last_match(subject, from, limit_);
  if (limit_ == from && limit_ != end_ && !may_be_empty(number, from))
    limit_ = subject.behind(limit_);
  if (number >= most_) limit_ = end_;
  return automaton_.first_match_behind(subject, from, limit_, end_);
}

// Has the last piece end elsewhere for which there is another end; false: there is none.
bool RepetitionSearch::set_back() {
  const Subject& subject = matcher_.subject_;
  while (ends_.size() > 1) {
    size_t end = ends_.back();
    ends_.pop_back();
    size_t from = ends_.back();
    if (shortest_) {
      if (end == end_) continue;
      limit_ = subject.behind(end);
      return true;
    }
    if (end == from) continue;
    limit_ = subject.before(end);
    if (limit_ > from || may_be_empty(ends_.size(), from)) return true;
  }
  return false;
}

bool RepetitionSearch::all_fit() {
  for (size_t i = verified_; i + 1 < ends_.size(); ++i) {
    matcher_.forget_groups(whole_.first);
    if (!matcher_.fits(whole_.first, ends_[i], ends_[i + 1])) {
      ends_.resize(i + 2);
      return false;
    }
    verified_ = i + 1;
  }
  return true;
}

bool RepetitionSearch::may_be_empty(size_t number, size_t from) const {
  if (number >= least_) return false;
  size_t wanted = least_ - number;
  for (size_t at = from; at != end_; at = matcher_.subject_.behind(at))
    if (wanted-- == 0) return false;
  return true;
}

}  // namespace pgsilo::regex
