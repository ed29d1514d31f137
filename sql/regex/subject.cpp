#include "sql/regex/subject.h"

#include <bit>

#include "base/long_work.h"
#include "base/stack.h"
#include "sql/regex/automata.h"
#include "sql/regex/dfa_run.h"
#include "sql/regex/regex_error.h"

namespace pgsilo::regex {

size_t PositionSet::next(size_t at, size_t last) const {
  while (at <= last) {
    size_t offset = at - first_;
    uint64_t word = words_[offset / 64] >> offset % 64;
    if (word != 0) {
      size_t found = at + static_cast<size_t>(std::countr_zero(word));
      return found <= last ? found : Dfa::nowhere;
    }
    at += 64 - offset % 64;
  }
  return Dfa::nowhere;
}

size_t PositionSet::previous(size_t at) const {
  size_t offset = at - first_;
  uint64_t word = words_[offset / 64] << (63 - offset % 64);
  if (word != 0) return at - static_cast<size_t>(std::countl_zero(word));
  for (size_t i = offset / 64; i-- > 0;)
    if (words_[i] != 0)
      return first_ + i * 64 + 63 - static_cast<size_t>(std::countl_zero(words_[i]));
  return Dfa::nowhere;
}

bool Subject::holds(uint32_t lookaround, size_t at) {
  if (!stack_has_room()) throw_failed(error::too_complex);
  if (answers_.empty()) answers_.resize(program_.lookarounds.size());
  return matches_at(lookaround, at) != program_.lookarounds[lookaround].is_negative();
}

// Position by position, as long as that costs no more than to find out about all of them.
bool Subject::matches_at(uint32_t lookaround, size_t at) {
  Answers& answers = answers_[lookaround];
  if (answers.work >= patience_.limit(size())) answer_all(lookaround);
  if (answers.complete) return answers.matches.contains(at);
  const LookaroundPart& part = program_.lookarounds[lookaround];
  bool ahead = part.looks_ahead();
  Dfa& dfa = automata_.of(part.begin, part.end,
                          ahead ? Automata::Direction::forward : Automata::Direction::backward);
  bool matches = dfa.first_match(*this, at, ahead ? size() : 0) != Dfa::nowhere;
  answers.work += dfa.last_steps();
  return matches;
}

// What is ahead of each position matches where the automaton, run backwards from all ends at once,
// comes to its begin; and so for what is behind.
void Subject::answer_all(uint32_t lookaround) {
  Answers& answers = answers_[lookaround];
  if (answers.complete) return;
  const LookaroundPart& part = program_.lookarounds[lookaround];
  bool ahead = part.looks_ahead();
  Dfa& dfa = automata_.of(part.begin, part.end,
                          ahead ? Automata::Direction::backward : Automata::Direction::forward,
                          Automata::Begin::anywhere);
  answers.matches.clear(0, size());
  dfa.run(*this, ahead ? size() : 0, ahead ? 0 : size(), [&](size_t at) {
    answers.matches.add(at);
    return true;
  });
  answers.complete = true;
}

}  // namespace pgsilo::regex
