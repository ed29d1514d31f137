// Which parts of a branch matter one by one, and what the branch prefers.
#include "sql/regex/syntax.h"

namespace pgsilo::regex {

Traits quantified_traits(const Node& atom) {
  if (atom.traits.has(Traits::back_references) && atom.kind == Node::Kind::back_reference)
    return atom.traits | in_a_row(Traits(atom.quantifier.preference), atom.traits);
  uint8_t own = atom.traits.preference() | (atom.traits.has(Traits::mixed) ? Traits::mixed : 0);
  const Quantifier& quantifier = atom.quantifier;
  bool keeps = quantifier.preference == 0 || own == 0 || quantifier.preference == own;
  if (quantifier.is_once() && keeps) return atom.traits;
  return in_a_row(Traits(quantifier.preference), atom.traits);
}

AskingVector<Segment> segments(const AskingVector<Node>& nodes, NodeId first_atom) {
  AskingVector<Segment> result;
  result.push_back({.first = first_atom});
  for (NodeId id = first_atom; id != no_node; id = nodes[id].next) {
    const Node& node = nodes[id];
    Segment& segment = result.back();
    bool is_nothing = !node.is_atom() || node.quantifier.most == 0;
    Traits traits = segment.boring_traits;
    if (!is_nothing) traits = traits | Traits(node.quantifier.preference) | node.traits;
    if (!traits.from_above().need_dissection()) {
      ++segment.boring;
      segment.boring_traits = traits;
      continue;
    }
    segment.interesting = id;
    if (node.next != no_node) result.push_back({.first = node.next});
  }
  // What follows tells what the last of them is, from the end on.
  Traits rest;
  for (size_t i = result.size(); i-- > 0;) {
    Segment& segment = result[i];
    Traits traits = segment.boring_traits;
    if (segment.interesting != no_node) {
      const Node& atom = nodes[segment.interesting];
      traits = quantified_traits(atom);
      if (i + 1 < result.size()) {
        traits = in_a_row(Traits(atom.quantifier.preference), atom.traits);
        traits = traits | in_a_row(traits, rest);
      }
      if (segment.boring > 0)
        traits = segment.boring_traits | in_a_row(segment.boring_traits, traits);
    }
    segment.traits = rest = traits;
  }
  return result;
}

}  // namespace pgsilo::regex
