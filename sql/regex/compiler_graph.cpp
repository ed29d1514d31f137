// Arcs by state, colors of sets, and what positions are alike.
#include <algorithm>

#include "base/long_work.h"
#include "sql/regex/compiler.h"
#include "sql/regex/regex_error.h"

namespace pgsilo::regex {
namespace {

bool holds(Assertion assertion, Neighbor before, Neighbor after) {
  bool word_before = before == Neighbor::word;
  bool word_after = after == Neighbor::word;
  switch (assertion) {
    case Assertion::text_begin:
      return before == Neighbor::edge;
    case Assertion::line_begin:
      return before == Neighbor::edge || before == Neighbor::newline;
    case Assertion::text_end:
      return after == Neighbor::edge;
    case Assertion::line_end:
      return after == Neighbor::edge || after == Neighbor::newline;
    case Assertion::word_begin:
      return !word_before && word_after;
    case Assertion::word_end:
      return word_before && !word_after;
    case Assertion::word_boundary:
      return word_before != word_after;
    default:
      return word_before == word_after;
  }
}

}  // namespace

void Compiler::make_colors() {
  constexpr size_t most_words = size_t{8} << 20;
  size_t own_sets = tree_.sets.size();
  if (assertions_ != 0) {
    tree_.sets.push_back(class_codes(CharacterClass::word));
    tree_.sets.push_back({{'\n', '\n'}});
  }
  ColorMap& colors = program_.colors;
  colors.make(tree_.sets);
  program_.color_words = (colors.count() + 63) / 64;
  if (program_.color_words * own_sets > most_words) throw_invalid(error::too_complex);
  program_.color_bits.resize(program_.color_words * own_sets);
  program_.single_color.resize(own_sets, Program::many_colors);
  for (size_t i = 0; i < own_sets; ++i) {
    AskingVector<Color> members = colors.colors_of(tree_.sets[i]);
    if (members.size() == 1) program_.single_color[i] = members[0];
    uint64_t* bits = program_.color_bits.data() + i * program_.color_words;
    for (Color color : members) bits[color / 64] |= uint64_t{1} << (color % 64);
  }
  if (assertions_ == 0) return;
  program_.has_assertions = true;
  program_.neighbor_of_color.resize(colors.count(), Neighbor::other);
  for (Color color : colors.colors_of(tree_.sets[own_sets]))
    program_.neighbor_of_color[color] = Neighbor::word;
  for (Color color : colors.colors_of(tree_.sets[own_sets + 1]))
    program_.neighbor_of_color[color] = Neighbor::newline;
}

void Compiler::make_contexts() {
  program_.context_kinds = 0;
  auto& known = program_.holds;
  for (unsigned context = 0; context < 16; ++context) {
    uint8_t mask = 0;
    for (unsigned i = 0; i < 8; ++i) {
      if ((assertions_ >> i & 1) != 0 &&
          holds(static_cast<Assertion>(i), static_cast<Neighbor>(context / 4),
                static_cast<Neighbor>(context % 4)))
        mask = static_cast<uint8_t>(mask | 1u << i);
    }
    auto end = known.begin() + static_cast<std::ptrdiff_t>(program_.context_kinds);
    auto at = std::find(known.begin(), end, mask);
    if (at == end) *at = mask, ++program_.context_kinds;
    program_.context_kind[context] = static_cast<uint8_t>(at - known.begin());
  }
}

Graph Compiler::make_graph(bool backward) const {
  Graph graph;
  graph.first.resize(states_ + 1);
  graph.first_set.resize(states_);
  graph.arcs.resize(arcs_.size());
  auto is_free = [](const FullArc& arc) { return arc.label.kind() != Label::Kind::set; };
  auto source = [&](const FullArc& arc) { return backward ? arc.to : arc.from; };
  AskingVector<uint32_t> free_count(states_);
  for (const FullArc& arc : arcs_) {
    ++graph.first[source(arc) + 1];
    if (is_free(arc)) ++free_count[source(arc)];
  }
  for (StateId state = 0; state < states_; ++state) {
    graph.first[state + 1] += graph.first[state];
    graph.first_set[state] = graph.first[state] + free_count[state];
  }
  did_work(arcs_.size() * 32);
  AskingVector<uint32_t> free_at(graph.first.begin(), graph.first.end() - 1);
  AskingVector<uint32_t> set_at = graph.first_set;
  for (const FullArc& arc : arcs_) {
    uint32_t at = is_free(arc) ? free_at[source(arc)]++ : set_at[source(arc)]++;
    graph.arcs[at] = {backward ? arc.from : arc.to, arc.label};
  }
  did_work(arcs_.size() * 32);
  return graph;
}

size_t Program::bytes() const {
  auto graph_bytes = [](const Graph& graph) {
    return graph.first.size() * 8 + graph.arcs.size() * sizeof(Arc);
  };
  return graph_bytes(forward) + graph_bytes(backward) + parts.size() * sizeof(Part) +
         color_bits.size() * 8 + single_color.size() * 4 + joints.size() * 4;
}

}  // namespace pgsilo::regex
