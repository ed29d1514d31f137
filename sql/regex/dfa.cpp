#include "sql/regex/dfa.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "sql/regex/automata.h"
#include "sql/regex/dfa_run.h"
#include "sql/regex/subject.h"

namespace pgsilo::regex {
namespace {

uint64_t hash_of(const AskingVector<StateId>& states) {
  uint64_t hash = 0x9e3779b97f4a7c15;
  for (StateId state : states) hash = std::rotl((hash ^ state) * 0xff51afd7ed558ccd, 29);
  return hash;
}

}  // namespace

Dfa::Dfa(const Program& program, Range range, Automata& owner)
    : program_(program),
      graph_(range.backward ? program.backward : program.forward),
      owner_(owner),
      scratch_(owner.scratch()),
      range_(range),
      colors_(program.colors.count()),
      stride_(header_words + colors_ * program.context_kinds),
      is_simple_(!program.has_assertions && program.lookarounds.empty()) {}

void Dfa::forget_all() {
  ++generation_;
  // What stayed allocated would count, and leave no room for new states.
  table_ = decltype(table_)();
  states_ = decltype(states_)();
  members_ = decltype(members_)();
  known_ = decltype(known_)();
  meetings_ = decltype(meetings_)();
  closure_ = decltype(closure_)();
  start_ = unknown;
  count_bytes();
}

void Dfa::count_bytes() {
  size_t before = bytes_;
  bytes_ = table_.capacity() * sizeof(Row) + states_.capacity() * (sizeof(State) + 48) +
           (members_.capacity() + closure_.capacity()) * sizeof(StateId) + meetings_.size() * 32;
  owner_.count_change(before, bytes_);
}

Dfa::Row Dfa::start_row() {
  if (start_ != unknown) return start_;
  scratch_.next.assign(1, range_.start);
  Row row = intern();
  return start_ = row;
}

// Of scratch_.next: the state that has these members.
Dfa::Row Dfa::intern() {
  std::ranges::sort(scratch_.next);
  meter_.did(scratch_.next.size() * 16 + 64);
  uint64_t hash = hash_of(scratch_.next);
  auto [at, end] = known_.equal_range(hash);
  for (; at != end; ++at) {
    const State& state = states_[at->second & ~special];
    const StateId* first = members_.data() + state.first;
    if (std::equal(scratch_.next.begin(), scratch_.next.end(), first, first + state.count))
      return static_cast<Row>((at->second & ~special) * stride_) | (at->second & special);
  }
  return add_state(hash);
}

Dfa::Row Dfa::add_state(uint64_t hash) {
  constexpr size_t least_states = 8;
  if (bytes_ > most_bytes && states_.size() >= least_states) forget_all();
  auto index = static_cast<uint32_t>(states_.size());
  State state;
  state.first = static_cast<uint32_t>(members_.size());
  state.count = static_cast<uint32_t>(scratch_.next.size());
  bool cold = range_.restarts && scratch_.next.size() == 1 && scratch_.next[0] == range_.start;
  members_.insert(members_.end(), scratch_.next.begin(), scratch_.next.end());
  size_t row = table_.size();
  table_.resize(row + stride_, unknown);
  table_[row] = 0;
  table_[row + 1] = (cold ? is_cold : 0) | (state.count == 0 ? is_dead : 0);
  if (is_simple_) {
    close(state, [](Label) { return true; });
    table_[row] = closure_matches() ? 0x10001 : 1;
  } else {
    state.asks_lookaround = asks_lookaround(state);
  }
  Row mark = is_simple_ && (table_[row] != 1 || table_[row + 1] != 0) ? special : 0;
  states_.push_back(state);
  known_.emplace(hash, index | mark);
  count_bytes();
  owner_.require_memory();
  meter_.did(stride_ * sizeof(Row));
  return static_cast<Row>(index * stride_) | mark;
}

template <typename MayPass>
void Dfa::close(const State& state, MayPass may_pass) {
  clear_marks();
  closure_.clear();
  for (uint32_t i = 0; i < state.count; ++i) {
    StateId member = members_[state.first + i];
    if (mark(member)) closure_.push_back(member);
  }
  for (size_t i = 0; i < closure_.size(); ++i) {
    StateId from = closure_[i];
    if (from == range_.goal) continue;
    for (const Arc& arc : graph_.free_arcs(from))
      if (is_in_range(arc.to) && may_pass(arc.label) && mark(arc.to)) closure_.push_back(arc.to);
  }
  meter_.did(closure_.size() * 32);
}

void Dfa::close_at(const State& state, Subject& subject, size_t at, uint8_t kind) {
  close(state, [&](Label label) {
    switch (label.kind()) {
      case Label::Kind::assertion:
        return (program_.holds[kind] >> label.value() & 1) != 0;
      case Label::Kind::lookaround:
        return subject.holds(label.value(), at);
      default:
        return true;
    }
  });
}

bool Dfa::asks_lookaround(const State& state) {
  if (program_.lookarounds.empty()) return false;
  bool asks = false;
  close(state, [&](Label label) {
    asks |= label.kind() == Label::Kind::lookaround;
    return true;
  });
  return asks;
}

// What a character leads to, and what that leads to by arcs that ask nothing; without states that
// have no other arcs.
void Dfa::append_reached(StateId state) {
  if (!is_in_range(state) || !mark(state)) return;
  scratch_.pending.push_back(state);
  while (!scratch_.pending.empty()) {
    StateId from = scratch_.pending.back();
    scratch_.pending.pop_back();
    bool is_needed = range_.keeps_all || from == range_.goal || !graph_.set_arcs(from).empty();
    if (from != range_.goal) {
      for (const Arc& arc : graph_.free_arcs(from)) {
        if (!is_in_range(arc.to)) continue;
        if (arc.label.kind() != Label::Kind::nothing) {
          is_needed = true;
        } else if (mark(arc.to)) {
          scratch_.pending.push_back(arc.to);
        }
      }
    }
    if (is_needed) scratch_.next.push_back(from);
  }
}

Dfa::Row Dfa::make_step(Row row, Subject& subject, size_t at, uint8_t kind, Color color) {
  size_t index = index_of(row);
  const State state = states_[index];
  close_at(state, subject, at, kind);
  clear_marks();
  scratch_.next.clear();
  for (StateId from : closure_) {
    if (from == range_.goal) continue;
    for (const Arc& arc : graph_.set_arcs(from))
      if (program_.contains(arc.label.value(), color)) append_reached(arc.to);
  }
  // Not closed: so it differs from what a run that has begun here is after some characters.
  if (range_.restarts && mark(range_.start)) scratch_.next.push_back(range_.start);
  meter_.did(scratch_.next.size() * 32 + 64);
  uint64_t generation = generation_;
  Row to = intern();
  if (generation == generation_ && !state.asks_lookaround)
    table_[index * stride_ + header_words + kind * colors_ + color] = to;
  return to;
}

bool Dfa::make_match(Row row, Subject& subject, size_t at, uint8_t kind) {
  size_t index = index_of(row);
  const State state = states_[index];
  close_at(state, subject, at, kind);
  bool result = closure_matches();
  if (!state.asks_lookaround) {
    table_[row & ~special] |= (result ? 0x10001u : 1u) << kind;
  }
  return result;
}

bool Dfa::record(Subject& subject, size_t from, size_t to, StateRecord& record) {
  InUse used(*this);
  record.automaton = this;
  record.first = std::min(from, to);
  record.states.assign(std::max(from, to) - record.first + 1, 0);
  auto run = [&]<bool backward>(Context<backward> context) {
    Row row = start_row();
    uint64_t generation = record.generation = generation_;
    for (;; meter_.did(8)) {
      context.look(subject);
      if (is_before<backward>(to, context.at)) return false;
      record.states[context.at - record.first] = static_cast<uint32_t>(index_of(row));
      if (!is_before<backward>(context.at, to)) return generation == generation_;
      row = step(row, subject, context.at, context.kind, context.color);
      if (generation != generation_) return false;
      context.move();
    }
  };
  return range_.backward ? run(Context<true>(program_, subject, from))
                         : run(Context<false>(program_, subject, from));
}

// A match follows where both automata, closed over what holds at the position, have a state in
// common: the other one has all that leads to a match from here, and this one, of each way there,
// at least the state in which it waits for a character or asks.
bool Dfa::meets(Row row, Subject& subject, size_t at, uint8_t kind, const StateRecord& record) {
  Dfa& other = *record.automaton;
  size_t index = index_of(row);
  uint32_t other_index = record.states[at - record.first];
  const State state = states_[index];
  const State other_state = other.states_[other_index];
  bool may_keep = !state.asks_lookaround && !other_state.asks_lookaround;
  uint64_t key = uint64_t{index} << 32 | other_index << 4 | kind;
  if (met_ != &other || met_generation_ != record.generation) meetings_.clear();
  met_ = &other;
  met_generation_ = record.generation;
  if (may_keep) {
    if (auto known = meetings_.find(key); known != meetings_.end()) return known->second;
  }
  close_at(state, subject, at, kind);
  other.close_at(other_state, subject, at, kind);
  bool result =
      std::ranges::any_of(closure_, [&](StateId member) { return other.is_marked(member); });
  meter_.did(closure_.size() * 4 + 128);
  if (may_keep) {
    if (meetings_.size() > most_meetings) meetings_.clear();
    meetings_.emplace(key, result);
    if (meetings_.size() % 1024 == 0) count_bytes();
  }
  return result;
}

size_t Dfa::first_match(Subject& subject, size_t from, size_t to) {
  return first_match_behind(subject, from, from, to);
}

size_t Dfa::first_match_behind(Subject& subject, size_t from, size_t least, size_t to) {
  size_t found = nowhere;
  run(subject, from, to, [&](size_t at) {
    if (range_.backward ? at > least : at < least) return true;
    found = at;
    return false;
  });
  return found;
}

size_t Dfa::last_match(Subject& subject, size_t from, size_t to) {
  size_t found = nowhere;
  run(subject, from, to, [&](size_t at) {
    found = at;
    return true;
  });
  return found;
}

}  // namespace pgsilo::regex
