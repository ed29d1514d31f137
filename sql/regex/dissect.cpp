// What parts of a match the captures are, without back references: then each division that the
// automata allow is one, and the first by preference is it. A stack of its own stands for
// recursion. Each division goes through its piece a bounded number of times.
#include "sql/regex/dfa_run.h"
#include "sql/regex/regex.h"
#include "sql/regex/regex_error.h"

namespace pgsilo::regex {

using Direction = Automata::Direction;

void Matcher::dissect(PartId whole, size_t begin, size_t end) {
  pieces_.assign(1, {whole, begin, end});
  while (!pieces_.empty()) {
    Piece piece = pieces_.back();
    pieces_.pop_back();
    meter_.did(128);
    divide(piece);
  }
}

void Matcher::divide(const Piece& piece) {
  const Part& whole = part(piece.part);
  if (!whole.traits.has(Traits::captures)) return;
  if (whole.capture != 0) groups_[whole.capture] = {piece.begin, piece.end};
  switch (whole.kind) {
    case Part::Kind::group:
      pieces_.push_back({whole.first, piece.begin, piece.end});
      break;
    case Part::Kind::concatenation:
      divide_concatenation(whole, piece.begin, piece.end);
      break;
    case Part::Kind::repetition:
      divide_repetition(whole, piece.begin, piece.end);
      break;
    case Part::Kind::alternation: {
      PartId child = whole.first;
      // The last is it when no other is.
      while (part(child).next != no_part &&
             !forward(part(child)).matches(subject_, piece.begin, piece.end))
        child = part(child).next;
      pieces_.push_back({child, piece.begin, piece.end});
      break;
    }
    default:
      break;
  }
}

void Matcher::divide_concatenation(const Part& whole, size_t begin, size_t end) {
  PartId last = whole.first;
  for (PartId child = whole.first; child != no_part; child = part(child).next)
    if (part(child).traits.has(Traits::captures)) last = child;
  for (PartId id = whole.first;; id = part(id).next) {
    const Part& child = part(id);
    bool is_rest = child.next == no_part;
    size_t middle = is_rest ? end : division(whole, child, part(child.next), begin, end);
    if (child.traits.has(Traits::captures)) pieces_.push_back({id, begin, middle});
    if (id == last) return;
    begin = middle;
  }
}

// Where `child` ends and what is behind it begins, in [begin, end].
size_t Matcher::division(const Part& whole, const Part& child, const Part& next, size_t begin,
                         size_t end) {
  bool shortest = child.traits.has(Traits::shortest);
  Dfa& first = forward(child);
  // Mostly the first choice is it.
  size_t at =
      shortest ? first.first_match(subject_, begin, end) : first.last_match(subject_, begin, end);
  if (at != Dfa::nowhere && rest(whole, next, Direction::forward).matches(subject_, at, end))
    return at;
  points_.clear(begin, end);
  rest(whole, next, Direction::backward).run(subject_, end, begin, [&](size_t point) {
    points_.add(point);
    return true;
  });
  at = Dfa::nowhere;
  first.run(subject_, begin, end, [&](size_t point) {
    if (!points_.contains(point)) return true;
    at = point;
    return !shortest;
  });
  if (at == Dfa::nowhere) throw_failed(error::cannot_happen);
  return at;
}

// Only the last repetition's captures count: the others are found to know where it begins. None is
// empty, but for a single one that has nothing to match.
void Matcher::divide_repetition(const Part& whole, size_t begin, size_t end) {
  const Part& child = part(whole.first);
  if (begin == end) {
    // With no repetition at all if short ones are preferred.
    if (!child.traits.has(Traits::shortest) && forward(child).matches(subject_, begin, end))
      pieces_.push_back({whole.first, begin, end});
    return;
  }
  Repetitions repetitions;
  repetitions.most_work = subject_.patience().limit(end - begin);
  for (repetitions.number = 1;; ++repetitions.number) {
    size_t behind = end_of_repetition(whole, begin, end, repetitions);
    if (behind == Dfa::nowhere) throw_failed(error::cannot_happen);
    if (behind == end) break;
    begin = behind;
    meter_.did(128);
  }
  pieces_.push_back({whole.first, begin, end});
}

size_t Matcher::end_of_repetition(const Part& whole, size_t begin, size_t end,
                                  Repetitions& repetitions) {
  bool is_bounded = whole.most != unbounded;
  if (is_bounded && repetitions.number == whole.most) return end;
  Dfa& child = forward(part(whole.first));
  bool shortest = part(whole.first).traits.has(Traits::shortest);
  // Mostly the longest choice is it.
  if (!shortest && !repetitions.points_known && child.last_match(subject_, begin, end) == end)
    return end;
  // Of a bounded repetition they depend on how many may follow.
  if (!repetitions.points_known) find_division_points(whole, repetitions.number, begin, end);
  repetitions.points_known = !is_bounded;
  size_t behind = Dfa::nowhere;
  auto visit = [&](size_t at) {
    if (at == begin || !points_.contains(at)) return true;
    behind = at;
    return !shortest;
  };
  // All automata together may have taken too much since.
  if (repetitions.recorded && !repetitions.record.automaton->knows(repetitions.record)) {
    repetitions.recorded = false;
    repetitions.most_work = subject_.patience().limit(end - begin);
  }
  // What looks far ahead again and again looks at what can follow instead.
  if (repetitions.work >= repetitions.most_work && !is_bounded && !shortest) {
    repetitions.work = 0;
    repetitions.recorded =
        automata_.of(whole, Direction::backward, Automata::Begin::here, Automata::Members::all)
            .record(subject_, end, begin, repetitions.record);
    repetitions.most_work = Dfa::nowhere;
  }
  if (repetitions.recorded) {
    child.run_to_meet(subject_, begin, end, repetitions.record, visit);
    return behind;
  }
  child.run(subject_, begin, end, visit);
  if (behind != Dfa::nowhere) repetitions.work += child.last_steps() - (behind - begin);
  return behind;
}

// From where [.., end] is what may follow after so many repetitions.
void Matcher::find_division_points(const Part& whole, size_t number, size_t begin, size_t end) {
  points_.clear(begin, end);
  StateId from = whole.most == unbounded ? whole.begin : program_.joints[whole.joints + number];
  automata_.of(from, whole.end, Direction::backward).run(subject_, end, begin, [&](size_t at) {
    points_.add(at);
    return true;
  });
}

}  // namespace pgsilo::regex
