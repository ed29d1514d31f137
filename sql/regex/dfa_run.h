// The loops of Dfa::run(). Internal to sql/regex.
#pragma once

#include "sql/regex/dfa.h"
#include "sql/regex/subject.h"

namespace pgsilo::regex {

// Whether a run that is at `at` has to go on: also not where a character reaches beyond `to`.
template <bool backward>
bool is_before(size_t at, size_t to) {
  return backward ? at > to : at < to;
}

// A state that is special often leads to itself: nothing has begun yet, or anything may follow.
// Returns what it leads to otherwise, or `unknown` when the run has ended.
template <bool backward, typename Visitor>
Dfa::Row Dfa::stay(Row row, Subject& subject, size_t& at, size_t to, Visitor& visitor) {
  const Row self = row | special;
  const bool matches = table_[row] != 1;
  const uint32_t state = table_[row + 1];
  if ((state & is_cold) != 0) last_cold_ = at;
  if (matches && !visitor(at)) return unknown;
  if ((state & is_dead) != 0) return unknown;
  for (size_t steps = 1; is_before<backward>(at, to); ++steps) {
    if (steps % 4096 == 0) meter_.did(4096);
    size_t here = at;
    Color color = backward ? subject.take_previous(at) : subject.take_next(at);
    Row next = table_[row + header_words + color];
    if (next == self) {
      if (matches && !visitor(at)) return unknown;
      continue;
    }
    if ((state & is_cold) != 0) last_cold_ = here;
    meter_.did(steps % 4096 + 1);
    // Here all may be forgotten: then the rows have changed.
    return next == unknown ? make_step(row, subject, here, 0, color) : next;
  }
  if ((state & is_cold) != 0) last_cold_ = at;
  return unknown;
}

template <bool backward, typename Visitor>
void Dfa::run_simply(Subject& subject, size_t& at, size_t to, Visitor& visitor) {
  constexpr size_t block = size_t{16} << 10;
  Row row = start_row();
  for (;;) {
    while ((row & special) != 0) {
      row = stay<backward>(row & ~special, subject, at, to, visitor);
      if (row == unknown) return;
    }
    if (!is_before<backward>(at, to)) return;
    size_t left = backward ? at - to : to - at;
    size_t began = at;
    size_t stop = left <= block ? to : backward ? at - block : at + block;
    while (is_before<backward>(at, stop)) {
      size_t here = at;
      Color color = backward ? subject.take_previous(at) : subject.take_next(at);
      Row next = table_[row + header_words + color];
      if (next == unknown) [[unlikely]]
        next = make_step(row, subject, here, 0, color);
      row = next;
      if ((next & special) != 0) break;
    }
    meter_.did(backward ? began - at : at - began);
  }
}

// What stands at either side of the position that a run is at.
template <bool backward>
struct Context {
  Context(const Program& made, Subject& subject, size_t from)
      : program(made), at(from), next(from) {
    if (size_t behind = at; backward ? at < subject.size() : at > 0)
      passed =
          subject.neighbor(backward ? subject.take_next(behind) : subject.take_previous(behind));
  }
  void look(Subject& subject) {
    ahead = Neighbor::edge;
    next = at;
    if (is_before<backward>(at, backward ? 0 : subject.size())) {
      color = backward ? subject.take_previous(next) : subject.take_next(next);
      ahead = subject.neighbor(color);
    }
    auto before = static_cast<unsigned>(backward ? ahead : passed);
    auto after = static_cast<unsigned>(backward ? passed : ahead);
    kind = program.context_kind[before * 4 + after];
  }
  void move() {
    at = next;
    passed = ahead;
  }

  const Program& program;
  size_t at;
  size_t next;
  Neighbor passed = Neighbor::edge;
  Neighbor ahead = Neighbor::edge;
  Color color = 0;
  uint8_t kind = 0;
};

template <bool backward, typename Visitor>
void Dfa::run_asserting(Subject& subject, size_t& at, size_t to, Visitor& visitor) {
  Context<backward> context(program_, subject, at);
  for (Row row = start_row();; meter_.did(1)) {
    context.look(subject);
    at = context.at;
    if ((properties(row) & is_cold) != 0) last_cold_ = at;
    if (is_match(row, subject, at, context.kind) && !visitor(at)) return;
    if (!is_before<backward>(at, to) || (properties(row) & is_dead) != 0) return;
    row = step(row, subject, at, context.kind, context.color);
    context.move();
  }
}

template <typename Visitor>
void Dfa::run(Subject& subject, size_t from, size_t to, Visitor visitor) {
  InUse used(*this);
  size_t at = from;
  if (is_simple_ && range_.backward) {
    run_simply<true>(subject, at, to, visitor);
  } else if (is_simple_) {
    run_simply<false>(subject, at, to, visitor);
  } else if (range_.backward) {
    run_asserting<true>(subject, at, to, visitor);
  } else {
    run_asserting<false>(subject, at, to, visitor);
  }
  last_steps_ = range_.backward ? from - at : at - from;
}

template <typename Visitor>
void Dfa::run_to_meet(Subject& subject, size_t from, size_t to, const StateRecord& record,
                      Visitor visitor) {
  InUse used(*this);
  InUse recorded(*record.automaton);
  Context<false> context(program_, subject, from);
  for (Row row = start_row();; meter_.did(16)) {
    context.look(subject);
    bool is_inside = context.at != from && context.at < to;
    if (is_inside && !meets(row, subject, context.at, context.kind, record)) return;
    if (is_match(row, subject, context.at, context.kind) && !visitor(context.at)) return;
    if (!is_before<false>(context.at, to) || (properties(row) & is_dead) != 0) return;
    row = step(row, subject, context.at, context.kind, context.color);
    context.move();
  }
}

}  // namespace pgsilo::regex
