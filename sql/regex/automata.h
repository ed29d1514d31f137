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
  // Of the states between two; forwards it begins in `begin`, backwards in `end`.
  Dfa& of(StateId begin, StateId end, Direction direction, Begin where = Begin::here);
  Dfa& of(const Part& part, Direction direction, Begin where = Begin::here) {
    return of(part.begin, part.end, direction, where);
  }
  size_t bytes() const;
  void clear() { made_.clear(); }

 private:
  using Key = std::tuple<StateId, StateId, Direction, Begin>;
  const Program& program_;
  std::map<Key, std::unique_ptr<Dfa>> made_;
};

}  // namespace pgsilo::regex
