// A deterministic automaton that is built as it runs: its states are sets of the program's, made
// when a text first leads to them, and forgotten when they take too much memory.
//
// It is the automaton of a range of the program's states: forwards, a run begins in `start` and has
// matched where it may be in `goal`; backwards it goes through the text and the arcs the other way.
// With `restarts` a run may begin at every position that it passes.
//
// Invariants: the set of a state has no repetitions, is sorted, and holds what a character led to,
// closed over arcs that ask nothing, without states from which only such arcs lead (but where all
// are wanted). A table entry is the state's row, or `unknown`; the bit `special` marks rows where a
// run has more to do than to go on. Where states' matches depend on contexts, runs look at headers
// instead. Steps that ask a lookaround are not kept: their answer depends on the position. Thread
// safety: one owner, who may be suspended inside of a run.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/asking_allocator.h"
#include "base/long_work.h"
#include "sql/regex/program.h"

namespace pgsilo::regex {

class Automata;
class Subject;
class Dfa;

// What the automata of a program share while they make states. Which states of the program are
// marked is told by stamps, a new one for each set; automata that ask others about lookarounds
// while they close a set have no state in common with these, so their marks stay.
struct DfaScratch {
  AskingVector<uint64_t> marks;  // by state of the program
  uint64_t last_stamp = 0;
  AskingVector<StateId> pending;
  AskingVector<StateId> next;  // the members of the next state
  size_t bytes() const {
    return marks.capacity() * sizeof(uint64_t) +
           (pending.capacity() + next.capacity()) * sizeof(StateId);
  }
};

// Which state an automaton was in at positions of a text.
struct StateRecord {
  Dfa* automaton = nullptr;
  uint64_t generation = 0;  // of the automaton's states
  size_t first = 0;         // the first position
  AskingVector<uint32_t> states;
};

class Dfa {
 public:
  struct Range {
    bool backward = false;
    bool restarts = false;
    bool keeps_all = false;  // members that only arcs leave which ask nothing, too
    StateId low = 0;
    StateId high = 0;  // inclusive
    StateId start = 0;
    StateId goal = 0;
  };
  Dfa(const Program& program, Range range, Automata& owner);

  // Each goes from `from` to `to` at most (backwards: to the left) and returns where it matched, or
  // `nowhere`.
  static constexpr size_t nowhere = ~size_t{0};
  size_t first_match(Subject& subject, size_t from, size_t to);
  size_t last_match(Subject& subject, size_t from, size_t to);
  // As first_match(), but not before `least`.
  size_t first_match_behind(Subject& subject, size_t from, size_t least, size_t to);
  bool matches(Subject& subject, size_t from, size_t to) {
    return last_match(subject, from, to) == to;
  }
  // Calls visitor(position) for each match in order, until that returns false.
  template <typename Visitor>
  void run(Subject& subject, size_t from, size_t to, Visitor visitor);

  // As run(), and tells where the run was in which state; false when it has forgotten states by
  // then.
  bool record(Subject& subject, size_t from, size_t to, StateRecord& record);
  bool knows(const StateRecord& record) const { return record.generation == generation_; }
  // As run(), but ends as soon as no match can follow: what has run the other way, and was
  // recorded, has no state in common with it.
  template <typename Visitor>
  void run_to_meet(Subject& subject, size_t from, size_t to, const StateRecord& record,
                   Visitor visitor);

  // With restarts: where the last run stood when nothing had begun to match.
  size_t last_cold() const { return last_cold_; }
  // How far the last run went.
  size_t last_steps() const { return last_steps_; }
  // Forgets all states, unless a run is under way: the automata together take too much.
  void forget_unless_used() {
    if (users_ == 0) forget_all();
  }

 private:
  using Row = uint32_t;  // index of a state's first entry; `special` beside
  static constexpr Row special = Row{1} << 31;
  static constexpr Row unknown = special | (special - 1);
  static constexpr size_t most_bytes = size_t{1} << 20;
  static constexpr size_t most_meetings = size_t{1} << 14;

  struct State {
    uint32_t first = 0;  // in members_
    uint32_t count = 0;
    bool asks_lookaround = false;
  };
  // Before a row's entries: by kind of context, where the state is known to match (the upper half)
  // or not to; and its properties.
  static constexpr size_t header_words = 2;
  static constexpr uint32_t is_cold = 1;  // nothing has begun to match
  static constexpr uint32_t is_dead = 2;  // nothing will match

  // While one lives, a run holds rows of the automaton.
  class InUse {
   public:
    explicit InUse(Dfa& automaton) : automaton_(automaton) { ++automaton_.users_; }
    ~InUse() { --automaton_.users_; }
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;

   private:
    Dfa& automaton_;
  };

  size_t index_of(Row row) const { return (row & ~special) / stride_; }
  Row start_row();
  Row intern();  // of scratch_.next
  Row add_state(uint64_t hash);
  bool asks_lookaround(const State& state);
  void forget_all();
  void count_bytes();
  Row make_step(Row row, Subject& subject, size_t at, uint8_t kind, Color color);
  bool make_match(Row row, Subject& subject, size_t at, uint8_t kind);
  // Sets closure_ to what a state is at a position.
  template <typename MayPass>
  void close(const State& state, MayPass may_pass);
  void close_at(const State& state, Subject& subject, size_t at, uint8_t kind);
  void append_reached(StateId state);  // to scratch_.next
  bool meets(Row row, Subject& subject, size_t at, uint8_t kind, const StateRecord& record);
  bool closure_matches() const { return scratch_.marks[range_.goal] == stamp_; }
  void clear_marks() { stamp_ = ++scratch_.last_stamp; }
  bool mark(StateId state) {
    uint64_t& stamp = scratch_.marks[state];
    if (stamp == stamp_) return false;
    stamp = stamp_;
    return true;
  }
  bool is_marked(StateId state) const {
    return is_in_range(state) && scratch_.marks[state] == stamp_;
  }
  bool is_in_range(StateId state) const { return state >= range_.low && state <= range_.high; }

  bool is_match(Row row, Subject& subject, size_t at, uint8_t kind) {
    uint32_t known = table_[row & ~special];
    if ((known >> kind & 1) != 0) return (known >> (kind + 16) & 1) != 0;
    return make_match(row, subject, at, kind);
  }
  Row step(Row row, Subject& subject, size_t at, uint8_t kind, Color color) {
    Row to = table_[(row & ~special) + header_words + kind * colors_ + color];
    return to == unknown ? make_step(row, subject, at, kind, color) : to;
  }
  uint32_t properties(Row row) const { return table_[(row & ~special) + 1]; }
  template <bool backward, typename Visitor>
  Row stay(Row row, Subject& subject, size_t& at, size_t to, Visitor& visitor);
  template <bool backward, typename Visitor>
  void run_simply(Subject& subject, size_t& at, size_t to, Visitor& visitor);
  template <bool backward, typename Visitor>
  void run_asserting(Subject& subject, size_t& at, size_t to, Visitor& visitor);

  const Program& program_;
  const Graph& graph_;
  Automata& owner_;
  DfaScratch& scratch_;
  const Range range_;
  const size_t colors_;
  const size_t stride_;
  const bool is_simple_;  // without contexts and lookarounds

  AskingVector<Row> table_;
  AskingVector<State> states_;
  AskingVector<StateId> members_;
  std::unordered_multimap<uint64_t, uint32_t> known_;  // by hash of the members
  // Whether a state and a recorded one have something in common, by both and the kind.
  std::unordered_map<uint64_t, bool> meetings_;
  const Dfa* met_ = nullptr;
  uint64_t met_generation_ = 0;
  Row start_ = unknown;
  uint64_t generation_ = 0;  // changes when all is forgotten
  size_t bytes_ = 0;
  uint32_t users_ = 0;
  size_t last_cold_ = 0;
  size_t last_steps_ = 0;

  uint64_t stamp_ = 0;             // of the set that was marked last
  AskingVector<StateId> closure_;  // of a set at a position, while lookarounds are asked
  WorkMeter meter_;
};

}  // namespace pgsilo::regex
