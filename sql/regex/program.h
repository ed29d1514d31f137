// What a pattern is compiled to: one nondeterministic automaton, and the tree of its parts.
//
// A part has a first and a last state. The states of a part are a range of numbers, [begin, end];
// within it nothing leads to `begin` or away from `end`, and from outside arcs lead to `begin` and
// away from `end` only. So the automaton of a part is its range, forwards from `begin` or backwards
// from `end`. Lookarounds are parts that nothing leads to: an arc asks whether they match.
// Thread safety: constant once made.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/asking_allocator.h"
#include "sql/regex/color_map.h"
#include "sql/regex/syntax.h"

namespace pgsilo::regex {

using StateId = uint32_t;
using PartId = uint32_t;
inline constexpr PartId no_part = ~PartId{0};

// What an arc takes: a character of a set; or nothing, where an assertion holds, a lookaround does,
// or always.
class Label {
 public:
  enum class Kind : uint8_t { set, nothing, assertion, lookaround };
  constexpr Label() = default;
  constexpr Label(Kind kind, uint32_t value) : bits_(static_cast<uint32_t>(kind) << 30 | value) {}
  Kind kind() const { return static_cast<Kind>(bits_ >> 30); }
  uint32_t value() const { return bits_ & 0x3fffffff; }

 private:
  uint32_t bits_ = static_cast<uint32_t>(Kind::nothing) << 30;
};

struct Arc {
  StateId to;
  Label label;
};

// Arcs of each state in one list: at first those that take nothing.
struct Graph {
  AskingVector<uint32_t> first;      // by state, and one more
  AskingVector<uint32_t> first_set;  // of those that take characters
  AskingVector<Arc> arcs;
  std::span<const Arc> free_arcs(StateId state) const {
    return {arcs.data() + first[state], arcs.data() + first_set[state]};
  }
  std::span<const Arc> set_arcs(StateId state) const {
    return {arcs.data() + first_set[state], arcs.data() + first[state + 1]};
  }
};

struct Part {
  enum class Kind : uint8_t {
    opaque,          // nothing in it matters
    group,           // a capture of a capture: one child
    concatenation,   // each child, and all behind it, are divided by what the child prefers
    alternation,     // the first child that fits
    repetition,      // of one child
    back_reference,  // to `capture_referred`
  };
  Kind kind = Kind::opaque;
  Traits traits;
  uint32_t capture = 0;  // which this part is, or 0
  uint32_t referred = 0;
  uint16_t least = 1;
  uint16_t most = 1;
  StateId begin = 0;
  StateId end = 0;
  PartId first = no_part;
  PartId next = no_part;
  uint32_t joints = 0;  // of a bounded repetition: where its copies' first states begin
};

struct LookaroundPart {
  Lookaround kind;
  StateId begin;
  StateId end;
  bool looks_ahead() const { return kind == Lookaround::ahead || kind == Lookaround::not_ahead; }
  bool is_negative() const {
    return kind == Lookaround::not_ahead || kind == Lookaround::not_behind;
  }
};

// What stands at either side of a position.
enum class Neighbor : uint8_t { edge, newline, word, other };

struct Program {
  AskingVector<Part> parts;
  PartId root = no_part;
  uint32_t groups = 0;
  Options options;
  Graph forward;
  Graph backward;
  AskingVector<LookaroundPart> lookarounds;
  AskingVector<StateId> joints;
  bool has_assertions = false;
  // Of the 16 pairs of neighbors (before * 4 + after): which are alike for the assertions there
  // are, and which assertions hold in each kind.
  std::array<uint8_t, 16> context_kind{};
  std::array<uint8_t, 16> holds{};  // by kind; a bit for each Assertion
  size_t context_kinds = 1;

  ColorMap colors;
  AskingVector<Neighbor> neighbor_of_color;  // with assertions only
  bool contains(SetId set, Color color) const {
    uint32_t single = single_color[set];
    if (single != many_colors) return single == color;
    return (color_bits[set * color_words + color / 64] >> (color % 64) & 1) != 0;
  }
  static constexpr uint32_t many_colors = ~uint32_t{0};
  AskingVector<uint32_t> single_color;  // by set
  AskingVector<uint64_t> color_bits;    // by set, color_words each
  size_t color_words = 0;

  bool has_back_references() const { return parts[root].traits.has(Traits::back_references); }
  size_t bytes() const;
};

// Throws 2201B. May recurse deeply.
Program compile(SyntaxTree tree);

}  // namespace pgsilo::regex
