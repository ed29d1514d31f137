// The syntax tree of a regular expression. Its nodes lie in one list; a node names others by their
// index. Each atom knows its quantifier; groups, alternations and branches know what they prefer,
// as far as the rules of PostgreSQL's manual (9.7.3.5) tell it from below. Thread safety: one
// owner.
#pragma once

#include <cstdint>
#include <map>

#include "base/asking_allocator.h"
#include "sql/regex/code_set.h"
#include "sql/regex/lexer.h"

namespace pgsilo::regex {

using NodeId = uint32_t;
inline constexpr NodeId no_node = ~NodeId{0};
using SetId = uint32_t;

// What is known of a part of an expression: which length of match it prefers (neither: it has no
// say), and what is in it.
class Traits {
 public:
  static constexpr uint8_t longest = 1;
  static constexpr uint8_t shortest = 2;
  static constexpr uint8_t mixed = 4;  // preferences clash in it
  static constexpr uint8_t captures = 8;
  static constexpr uint8_t back_references = 16;

  constexpr Traits() = default;
  constexpr explicit Traits(uint8_t bits) : bits_(bits) {}
  bool has(uint8_t bits) const { return (bits_ & bits) != 0; }
  uint8_t preference() const { return bits_ & (longest | shortest); }
  Traits operator|(Traits other) const { return Traits(static_cast<uint8_t>(bits_ | other.bits_)); }
  Traits with(uint8_t bits) const { return Traits(static_cast<uint8_t>(bits_ | bits)); }
  // Seen from above: preferences do not pass, but that they clash does.
  Traits from_above() const {
    bool clash = (bits_ & longest) != 0 && (bits_ & shortest) != 0;
    return Traits(static_cast<uint8_t>((bits_ & ~(longest | shortest)) | (clash ? mixed : 0)));
  }
  // Where it matters what matches which part.
  bool need_dissection() const { return has(mixed | captures | back_references); }

 private:
  uint8_t bits_ = 0;
};

// Of two in a row: what the first prefers, or else the second.
inline Traits in_a_row(Traits first, Traits second) {
  uint8_t preference = first.preference() != 0 ? first.preference() : second.preference();
  return (first | second).from_above().with(preference);
}

inline constexpr uint16_t unbounded = 256;
inline constexpr uint16_t most_repetitions = 255;

struct Quantifier {
  uint16_t least = 1;
  uint16_t most = 1;
  uint8_t preference = 0;  // Traits::longest or shortest, or 0: the atom's
  bool is_once() const { return least == 1 && most == 1; }
};

enum class Assertion : uint8_t {
  text_begin,
  line_begin,
  text_end,
  line_end,
  word_begin,
  word_end,
  word_boundary,
  no_word_boundary,
};

struct Node {
  enum class Kind : uint8_t {
    set,             // value: of SetId
    assertion,       // value: of Assertion
    lookaround,      // value: of Lookaround; first: its alternation
    group,           // value: which capture, or 0; first: its alternation
    back_reference,  // value: of which capture; first: that group
    alternation,     // first: its branches
    branch,          // first: its atoms
  };
  Kind kind;
  Traits traits{};
  Quantifier quantifier{};
  uint32_t value = 0;
  NodeId first = no_node;
  NodeId next = no_node;  // of the same list
  bool is_atom() const { return kind != Kind::assertion && kind != Kind::lookaround; }
};

struct SyntaxTree {
  AskingVector<Node> nodes;
  AskingVector<CodeSet> sets;  // all different
  NodeId root = no_node;
  uint32_t groups = 0;
  Options options;
};

// Throws 2201B. Recurses as deep as groups nest.
SyntaxTree parse(std::string_view pattern, Options options);

// A run of a branch's atoms that need no dissection, and the atom behind them that does (or none,
// at the end).
struct Segment {
  NodeId first;  // of the run; `boring` atoms
  uint32_t boring = 0;
  Traits boring_traits{};
  NodeId interesting = no_node;
  // Of this segment and all behind it.
  Traits traits{};
};
// Of the atom with its quantifier.
Traits quantified_traits(const Node& atom);
AskingVector<Segment> segments(const AskingVector<Node>& nodes, NodeId first_atom);

}  // namespace pgsilo::regex
