// The automata of a program, each made when it is first asked for. Thread safety: one owner.
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "sql/regex/dfa.h"
#include "sql/regex/program.h"

namespace pgsilo::regex {

class Automata {
 public:
  explicit Automata(const Program& program) : program_(program) {}

  enum class Direction : uint8_t { forward, backward };
  enum class Begin : uint8_t { here, anywhere };
  enum class Members : uint8_t { needed, all };
  // Of the states between two; forwards it begins in `begin`, backwards in `end`.
  Dfa& of(StateId begin, StateId end, Direction direction, Begin where = Begin::here,
          Members members = Members::needed);
  Dfa& of(const Part& part, Direction direction, Begin where = Begin::here,
          Members members = Members::needed) {
    return of(part.begin, part.end, direction, where, members);
  }
  size_t bytes() const;
  void clear() {
    made_.clear();
    is_matching_ = false;
  }
  // A match is under way; or an exception has ended it, and left an automaton half made.
  void set_matching(bool is_matching) { is_matching_ = is_matching; }
  bool is_matching() const { return is_matching_; }

 private:
  using Key = std::tuple<StateId, StateId, Direction, Begin, Members>;
  const Program& program_;
  std::map<Key, std::unique_ptr<Dfa>> made_;
  bool is_matching_ = false;
};

}  // namespace pgsilo::regex
