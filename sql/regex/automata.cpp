#include "sql/regex/automata.h"

#include <algorithm>

#include "base/memory_budget.h"

namespace pgsilo::regex {

Dfa& Automata::of(StateId begin, StateId end, Direction direction, Begin where, Members members) {
  std::unique_ptr<Dfa>& made = made_[Key(begin, end, direction, where, members)];
  if (made != nullptr) return *made;
  if (scratch_.marks.empty()) scratch_.marks.resize(program_.forward.first.size());
  bool backward = direction == Direction::backward;
  Dfa::Range range{.backward = backward,
                   .restarts = where == Begin::anywhere,
                   .keeps_all = members == Members::all,
                   .low = begin,
                   .high = end,
                   .start = backward ? end : begin,
                   .goal = backward ? begin : end};
  made = std::make_unique<Dfa>(program_, range, *this);
  count_change(0, own_bytes);
  require_memory();
  return *made;
}

void Automata::clear() {
  made_.clear();
  scratch_ = DfaScratch();
  bytes_ = 0;
  asked_bytes_ = 0;
  limit_ = most_bytes;
  is_matching_ = false;
}

void Automata::require_more_memory() {
  if (bytes_ > limit_) {
    for (const auto& [key, automaton] : made_)
      if (automaton != nullptr) automaton->forget_unless_used();
    // What cannot be forgotten is not looked through for each state anew.
    limit_ = std::max(most_bytes, bytes_ + most_bytes / 2);
    asked_bytes_ = std::min(asked_bytes_, bytes_);
  }
  for (; asked_bytes_ < bytes_; asked_bytes_ += step_bytes) require_room(step_bytes);
}

}  // namespace pgsilo::regex
