#include "sql/regex/automata.h"

namespace pgsilo::regex {

Dfa& Automata::of(StateId begin, StateId end, Direction direction, Begin where, Members members) {
  std::unique_ptr<Dfa>& made = made_[Key(begin, end, direction, where, members)];
  if (made != nullptr) return *made;
  bool backward = direction == Direction::backward;
  made = std::make_unique<Dfa>(program_, Dfa::Range{.backward = backward,
                                                    .restarts = where == Begin::anywhere,
                                                    .keeps_all = members == Members::all,
                                                    .low = begin,
                                                    .high = end,
                                                    .start = backward ? end : begin,
                                                    .goal = backward ? begin : end});
  return *made;
}

size_t Automata::bytes() const {
  size_t bytes = 0;
  for (const auto& [key, dfa] : made_) bytes += sizeof(Dfa) + dfa->bytes();
  return bytes;
}

}  // namespace pgsilo::regex
