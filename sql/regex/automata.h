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
  size_t bytes() const { return bytes_ + scratch_.bytes(); }
  void clear();
  // A match is under way; or an exception has ended it, and left an automaton half made.
  void set_matching(bool is_matching) { is_matching_ = is_matching; }
  bool is_matching() const { return is_matching_; }

  // For the automata.
  DfaScratch& scratch() { return scratch_; }
  void count_change(size_t before, size_t now) { bytes_ += now - before; }
  // After what is made has been counted. When all automata together take too much, those that are
  // not in use forget their states. Throws MemoryLimitReached.
  void require_memory() {
    if (bytes_ > asked_bytes_) [[unlikely]]
      require_more_memory();
  }

 private:
  void require_more_memory();

  static constexpr size_t most_bytes = size_t{64} << 20;
  // More is asked for in such steps.
  static constexpr size_t step_bytes = size_t{256} << 10;
  // Of an automaton, beside its states.
  static constexpr size_t own_bytes = sizeof(Dfa) + 128;
  using Key = std::tuple<StateId, StateId, Direction, Begin, Members>;
  const Program& program_;
  DfaScratch scratch_;
  size_t bytes_ = 0;
  size_t asked_bytes_ = 0;
  size_t limit_ = most_bytes;  // above it states are forgotten
  std::map<Key, std::unique_ptr<Dfa>> made_;
  bool is_matching_ = false;
};

}  // namespace pgsilo::regex
