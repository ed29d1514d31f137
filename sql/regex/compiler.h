// From a syntax tree to a program; internal to sql/regex. Thread safety: one owner.
#pragma once

#include <map>

#include "sql/regex/program.h"

namespace pgsilo::regex {

class Compiler {
 public:
  explicit Compiler(SyntaxTree tree) : tree_(std::move(tree)) {}
  Program run();

 private:
  static constexpr size_t most_states = 500'000;
  static constexpr size_t most_arcs = 1'500'000;
  struct Ends {
    StateId begin;
    StateId end;
  };
  struct FullArc {
    StateId from;
    StateId to;
    Label label;
  };
  const Node& node(NodeId id) const { return tree_.nodes[id]; }

  StateId new_state();
  void add_arc(StateId from, StateId to, Label label = Label());
  // Automata without parts.
  Ends emit_alternation(NodeId id);
  Ends emit_atoms(NodeId first, uint32_t count);
  Ends emit_item(NodeId id);
  Ends emit_atom(NodeId id);
  Ends emit_arc(Label label);
  Ends emit_assertion(NodeId id);
  Ends emit_repeated(NodeId id, uint32_t least, uint32_t most);
  uint32_t lookaround_of(NodeId id);
  // With parts.
  PartId add_part(Part::Kind kind, Traits traits, Ends ends = {});
  PartId build_alternation(NodeId id);
  PartId build_branch(NodeId id);
  PartId build_row(const AskingVector<Segment>& row);
  PartId build_item(NodeId id);
  PartId build_atom(NodeId id);
  PartId build_back_reference(NodeId id);
  PartId build_last_of_many(NodeId id);
  PartId build_repetition(NodeId id);
  void append_child(PartId parent, PartId child, PartId& last);

  void make_colors();
  void make_contexts();
  Graph make_graph(bool backward) const;

  SyntaxTree tree_;
  Program program_;
  StateId states_ = 0;
  AskingVector<FullArc> arcs_;
  std::map<NodeId, uint32_t> lookarounds_;
  uint8_t assertions_ = 0;  // those that are asked
  // What a group matched somewhere else, a back reference to it matches here: it asserts nothing.
  bool without_assertions_ = false;
};

}  // namespace pgsilo::regex
