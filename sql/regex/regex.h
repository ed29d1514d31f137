// PostgreSQL's regular expressions (manual 9.7.3). docs/regular_expressions.md tells how they are
// matched.
//
//   Regex regex(pattern, options);
//   Matcher matcher(regex, text);
//   if (matcher.find(0, Matcher::Groups::all)) ... matcher.group(1) ...
//
// Positions are of bytes; patterns and texts are valid UTF-8. Thread safety: one owner, who may be
// suspended inside of a call; a Regex has one Matcher at a time.
#pragma once

#include <memory>
#include <string_view>

#include "sql/regex/automata.h"
#include "sql/regex/program.h"
#include "sql/regex/subject.h"

namespace pgsilo::regex {

class Regex {
 public:
  // Throws 2201B `invalid regular expression: ...`.
  Regex(std::string_view pattern, Options options);
  uint32_t groups() const { return program_->groups; }
  // Of what it holds.
  size_t bytes() const { return program_->bytes() + automata_->bytes(); }
  // Forgets what matching has made.
  void shrink() { automata_->clear(); }
  // Forgets what a match has left that an exception ended. No Matcher is there.
  void drop_half_made() {
    if (automata_->is_matching()) shrink();
  }

 private:
  friend class Matcher;
  std::unique_ptr<const Program> program_;
  std::unique_ptr<Automata> automata_;
};

class Matcher {
 public:
  static constexpr size_t unset = ~size_t{0};
  struct Range {
    size_t begin = unset;  // unset: the group took no part
    size_t end = unset;
    bool is_set() const { return begin != unset; }
  };
  enum class Groups : uint8_t { none, all };

  Matcher(Regex& regex, std::string_view text, Patience patience = {});
  // Whether there is a match that begins at `start` or behind it.
  bool exists(size_t start);
  // The same; sets the groups: the whole match (0), and the captures if they are wanted.
  bool find(size_t start, Groups groups);
  Range group(size_t index) const { return groups_[index]; }
  size_t group_count() const { return groups_.size() - 1; }

 private:
  friend class RepetitionSearch;
  const Part& part(PartId id) const { return program_.parts[id]; }
  Dfa& forward(const Part& part) { return automata_.of(part, Automata::Direction::forward); }
  Dfa& backward(const Part& part) { return automata_.of(part, Automata::Direction::backward); }
  // Of a concatenation: `child` and all behind it.
  Dfa& rest(const Part& whole, const Part& child, Automata::Direction direction) {
    return automata_.of(child.begin, whole.end, direction);
  }
  template <typename Match>
  bool matching(Match match);
  bool find_now(size_t start, Groups groups);
  bool prefers_shortest() const { return part(program_.root).traits.has(Traits::shortest); }

  size_t find_begin(size_t start);
  size_t find_end(size_t begin);
  size_t earliest_of(size_t open, size_t close);
  void find_all_begins(size_t start);

  // Without back references: the parts of what is known to match, one after the other.
  struct Piece {
    PartId part;
    size_t begin;
    size_t end;
  };
  void dissect(PartId whole, size_t begin, size_t end);
  void divide(const Piece& piece);
  void divide_concatenation(const Part& whole, size_t begin, size_t end);
  size_t division(const Part& whole, const Part& child, const Part& next, size_t begin, size_t end);
  void divide_repetition(const Part& whole, size_t begin, size_t end);
  struct Repetitions {
    size_t number = 1;  // of the one whose end is wanted
    bool points_known = false;
    bool recorded = false;
    StateRecord record;
    size_t work = 0;  // behind the ends that were found
    size_t most_work = 0;
  };
  size_t end_of_repetition(const Part& whole, size_t begin, size_t end, Repetitions& repetitions);
  void find_division_points(const Part& whole, size_t number, size_t begin, size_t end);

  // With back references: by search, recursively.
  bool find_by_search(size_t start);
  bool find_from(size_t begin);
  bool fits(PartId id, size_t begin, size_t end);
  bool fits_inside(PartId id, size_t begin, size_t end);
  bool fits_concatenation(const Part& whole, PartId child, size_t begin, size_t end);
  bool fit_divided(const Part& whole, PartId child, size_t begin, size_t middle, size_t end);
  bool fits_reference_first(const Part& whole, PartId child, size_t begin, size_t end);
  PositionSet divisions(const Part& whole, const Part& child, size_t begin, size_t end);
  bool fits_alternation(const Part& whole, size_t begin, size_t end);
  bool fits_reference(const Part& part, size_t begin, size_t end) const;
  size_t skip_same(Range range, size_t at, size_t end) const;
  void forget_groups(PartId id);

  const Program& program_;
  Automata& automata_;
  Subject subject_;
  AskingVector<Range> groups_;
  AskingVector<Piece> pieces_;
  PositionSet points_;  // of a division: from where the rest matches up to its end
  PositionSet begins_;  // of all matches, once they have been found
  bool begins_known_ = false;
  size_t begin_work_ = 0;
  // From where in the text a match may go on, once ends have cost too much.
  enum class Ends : uint8_t { unknown, recorded, not_recorded };
  Ends ends_ = Ends::unknown;
  StateRecord ends_record_;
  size_t end_work_ = 0;
  WorkMeter meter_;
};

}  // namespace pgsilo::regex
