// Matching with back references: what the automata allow is tried by preference, for what a group
// has matched decides whether the rest does. As in PostgreSQL, a part that fits is not divided
// anew when what follows does not fit.
#include <cstring>

#include "base/large_stack.h"
#include "base/stack.h"
#include "sql/regex/dfa_run.h"
#include "sql/regex/regex.h"
#include "sql/regex/regex_error.h"
#include "sql/regex/repetition_search.h"

namespace pgsilo::regex {

using Direction = Automata::Direction;
using Begin = Automata::Begin;

bool Matcher::find_by_search(size_t start) {
  Dfa& search = automata_.of(part(program_.root), Direction::forward, Begin::anywhere);
  for (size_t from = start;;) {
    size_t close = search.first_match(subject_, from, subject_.size());
    if (close == Dfa::nowhere) return false;
    for (size_t begin = search.last_cold(); begin <= close;
         begin = begin == subject_.size() ? begin + 1 : subject_.behind(begin))
      if (run_on_large_stack([&] { return find_from(begin); })) return true;
    if (close == subject_.size()) return false;
    from = subject_.behind(close);
  }
}

// Whether a match begins there; its ends are tried by preference.
bool Matcher::find_from(size_t begin) {
  bool shortest = prefers_shortest();
  Dfa& automaton = forward(part(program_.root));
  size_t size = subject_.size();
  size_t limit = shortest ? begin : size;
  for (;;) {
    size_t end = shortest ? automaton.first_match_behind(subject_, begin, limit, size)
                          : automaton.last_match(subject_, begin, limit);
    if (end == Dfa::nowhere) return false;
    groups_.assign(groups_.size(), Range());
    if (fits(program_.root, begin, end)) {
      groups_[0] = {begin, end};
      return true;
    }
    if (end == (shortest ? size : begin)) return false;
    limit = shortest ? subject_.behind(end) : subject_.before(end);
  }
}

// Whether a part matches just that; sets its captures.
bool Matcher::fits(PartId id, size_t begin, size_t end) {
  if (!stack_has_room()) throw_failed(error::too_complex);
  meter_.did(256);
  const Part& whole = part(id);
  if (!fits_inside(id, begin, end)) return false;
  if (whole.capture != 0) groups_[whole.capture] = {begin, end};
  return true;
}

bool Matcher::fits_inside(PartId id, size_t begin, size_t end) {
  const Part& whole = part(id);
  switch (whole.kind) {
    case Part::Kind::group:
      return fits(whole.first, begin, end);
    case Part::Kind::concatenation:
      return fits_concatenation(whole, whole.first, begin, end);
    case Part::Kind::alternation:
      return fits_alternation(whole, begin, end);
    case Part::Kind::repetition:
      return RepetitionSearch(*this, whole, begin, end).run();
    case Part::Kind::back_reference:
      return fits_reference(whole, begin, end);
    default:
      return true;
  }
}

bool Matcher::fits_concatenation(const Part& whole, PartId id, size_t begin, size_t end) {
  if (!stack_has_room()) throw_failed(error::too_complex);
  const Part& child = part(id);
  if (child.next == no_part) return fits(id, begin, end);
  if (child.kind == Part::Kind::back_reference) return fits_reference_first(whole, id, begin, end);
  bool shortest = child.traits.has(Traits::shortest);
  Dfa& first = forward(child);
  // Mostly the first choice is it; if not, all others are found at once.
  size_t tried =
      shortest ? first.first_match(subject_, begin, end) : first.last_match(subject_, begin, end);
  if (tried == Dfa::nowhere) return false;
  if (fit_divided(whole, id, begin, tried, end)) return true;
  PositionSet middles = divisions(whole, child, begin, end);
  for (size_t middle = tried;;) {
    if (middle == (shortest ? end : begin)) return false;
    middle = shortest ? middles.next(middle + 1, end) : middles.previous(middle - 1);
    if (middle == Dfa::nowhere) return false;
    if (fit_divided(whole, id, begin, middle, end)) return true;
  }
}

bool Matcher::fit_divided(const Part& whole, PartId id, size_t begin, size_t middle, size_t end) {
  PartId next = part(id).next;
  if (!rest(whole, part(next), Direction::forward).matches(subject_, middle, end)) return false;
  if (fits(id, begin, middle) && fits_concatenation(whole, next, middle, end)) return true;
  for (; id != no_part; id = part(id).next) forget_groups(id);
  return false;
}

// Where `child` may end and what is behind it begin.
PositionSet Matcher::divisions(const Part& whole, const Part& child, size_t begin, size_t end) {
  PositionSet points;
  points.clear(begin, end);
  rest(whole, part(child.next), Direction::backward).run(subject_, end, begin, [&](size_t at) {
    points.add(at);
    return true;
  });
  PositionSet both;
  both.clear(begin, end);
  forward(child).run(subject_, begin, end, [&](size_t at) {
    if (points.contains(at)) both.add(at);
    return true;
  });
  return both;
}

// What the group has matched tells where the reference may end.
bool Matcher::fits_reference_first(const Part& whole, PartId id, size_t begin, size_t end) {
  const Part& reference = part(id);
  Range group = groups_[reference.referred];
  if (!group.is_set()) return false;
  AskingVector<size_t> ends{begin};
  size_t most = reference.most == unbounded ? Dfa::nowhere : reference.most;
  while (group.begin != group.end && ends.size() <= most) {
    size_t behind = skip_same(group, ends.back(), end);
    if (behind == Dfa::nowhere) break;
    ends.push_back(behind);
  }
  size_t least = group.begin == group.end ? 0 : reference.least;
  bool shortest = reference.traits.has(Traits::shortest);
  for (size_t tried = least; tried < ends.size(); ++tried) {
    size_t count = shortest ? tried : ends.size() - 1 - (tried - least);
    if (fit_divided(whole, id, begin, ends[count], end)) return true;
  }
  return false;
}

bool Matcher::fits_alternation(const Part& whole, size_t begin, size_t end) {
  for (PartId child = whole.first; child != no_part; child = part(child).next)
    if (forward(part(child)).matches(subject_, begin, end) && fits(child, begin, end)) return true;
  return false;
}

// An empty group is as often there as one likes.
bool Matcher::fits_reference(const Part& reference, size_t begin, size_t end) const {
  Range group = groups_[reference.referred];
  if (!group.is_set()) return false;
  if (group.begin == group.end) return begin == end;
  if (begin == end) return reference.least == 0;
  size_t count = 0;
  while (begin != end) {
    begin = skip_same(group, begin, end);
    if (begin == Dfa::nowhere) return false;
    ++count;
  }
  return count >= reference.least && (reference.most == unbounded || count <= reference.most);
}

// Behind what is like a range of the text, at `at`; `nowhere` when it is not.
size_t Matcher::skip_same(Range range, size_t at, size_t end) const {
  std::string_view text = subject_.text();
  if (!program_.options.ignore_case) {
    size_t size = range.end - range.begin;
    did_work(size);
    bool same = size <= end - at && std::memcmp(&text[range.begin], &text[at], size) == 0;
    return same ? at + size : Dfa::nowhere;
  }
  for (size_t i = range.begin; i < range.end;) {
    if (at == end) return Dfa::nowhere;
    size_t next = subject_.behind(i);
    size_t behind = subject_.behind(at);
    if (lower_code(code_point(text.substr(i, next - i))) !=
        lower_code(code_point(text.substr(at, behind - at))))
      return Dfa::nowhere;
    did_work(64);
    i = next;
    at = behind;
  }
  return at;
}

void Matcher::forget_groups(PartId id) {
  if (!stack_has_room()) throw_failed(error::too_complex);
  const Part& whole = part(id);
  if (!whole.traits.has(Traits::captures)) return;
  if (whole.capture != 0) groups_[whole.capture] = Range();
  for (PartId child = whole.first; child != no_part; child = part(child).next) forget_groups(child);
}

}  // namespace pgsilo::regex
