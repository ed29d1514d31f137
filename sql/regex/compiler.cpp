#include "sql/regex/compiler.h"

#include <utility>

#include "base/long_work.h"
#include "sql/regex/regex_error.h"

namespace pgsilo::regex {

Program compile(SyntaxTree tree) { return Compiler(std::move(tree)).run(); }

Program Compiler::run() {
  program_.root = build_alternation(tree_.root);
  program_.groups = tree_.groups;
  program_.options = tree_.options;
  make_colors();
  make_contexts();
  program_.forward = make_graph(false);
  program_.backward = make_graph(true);
  return std::move(program_);
}

StateId Compiler::new_state() {
  if (states_ == most_states) throw_invalid(error::too_complex);
  did_work(64);
  return states_++;
}

void Compiler::add_arc(StateId from, StateId to, Label label) {
  if (arcs_.size() == most_arcs) throw_invalid(error::too_complex);
  arcs_.push_back({from, to, label});
}

Compiler::Ends Compiler::emit_alternation(NodeId id) {
  require_stack();
  StateId begin = new_state();
  AskingVector<StateId> ends;
  for (NodeId branch = node(id).first; branch != no_node; branch = node(branch).next) {
    Ends inner = emit_atoms(node(branch).first, ~uint32_t{0});
    add_arc(begin, inner.begin);
    ends.push_back(inner.end);
  }
  StateId end = new_state();
  for (StateId inner : ends) add_arc(inner, end);
  return {begin, end};
}

Compiler::Ends Compiler::emit_atoms(NodeId first, uint32_t count) {
  StateId begin = new_state();
  StateId last = begin;
  for (NodeId id = first; id != no_node && count > 0; id = node(id).next, --count) {
    Ends inner = emit_item(id);
    add_arc(last, inner.begin);
    last = inner.end;
  }
  StateId end = new_state();
  add_arc(last, end);
  return {begin, end};
}

Compiler::Ends Compiler::emit_item(NodeId id) {
  const Node& item = node(id);
  if (!item.is_atom()) return emit_assertion(id);
  if (item.quantifier.is_once()) return emit_atom(id);
  return emit_repeated(id, item.quantifier.least, item.quantifier.most);
}

Compiler::Ends Compiler::emit_arc(Label label) {
  StateId begin = new_state();
  StateId end = new_state();
  add_arc(begin, end, label);
  return {begin, end};
}

Compiler::Ends Compiler::emit_assertion(NodeId id) {
  if (without_assertions_) return emit_arc(Label());
  uint32_t value = node(id).value;
  if (node(id).kind == Node::Kind::lookaround)
    return emit_arc(Label(Label::Kind::lookaround, lookaround_of(id)));
  assertions_ = static_cast<uint8_t>(assertions_ | 1u << value);
  return emit_arc(Label(Label::Kind::assertion, value));
}

Compiler::Ends Compiler::emit_atom(NodeId id) {
  const Node& atom = node(id);
  switch (atom.kind) {
    case Node::Kind::set:
      return emit_arc(Label(Label::Kind::set, atom.value));
    case Node::Kind::back_reference: {
      bool outer = std::exchange(without_assertions_, true);
      Ends ends = emit_alternation(node(atom.first).first);
      without_assertions_ = outer;
      return ends;
    }
    default:
      return emit_alternation(atom.first);
  }
}

// Of copies of the atom; the last loops when they are not bounded.
Compiler::Ends Compiler::emit_repeated(NodeId id, uint32_t least, uint32_t most) {
  StateId begin = new_state();
  StateId last = begin;
  auto append_copy = [&] {
    Ends copy = emit_atom(id);
    add_arc(last, copy.begin);
    last = copy.end;
  };
  AskingVector<StateId> may_end;
  if (most == unbounded) {
    for (uint32_t i = 1; i < least; ++i) append_copy();
    StateId joint = new_state();
    add_arc(last, joint);
    last = joint;
    append_copy();
    add_arc(last, joint);
    if (least == 0) may_end.push_back(joint);
  } else {
    for (uint32_t i = 0; i < least; ++i) append_copy();
    for (uint32_t i = least; i < most; ++i) {
      may_end.push_back(last);
      append_copy();
    }
  }
  StateId end = new_state();
  add_arc(last, end);
  for (StateId state : may_end) add_arc(state, end);
  return {begin, end};
}

// A lookaround is compiled once however many copies of it there are.
uint32_t Compiler::lookaround_of(NodeId id) {
  if (auto known = lookarounds_.find(id); known != lookarounds_.end()) return known->second;
  Ends ends = emit_alternation(node(id).first);
  auto number = static_cast<uint32_t>(program_.lookarounds.size());
  program_.lookarounds.push_back({static_cast<Lookaround>(node(id).value), ends.begin, ends.end});
  lookarounds_.emplace(id, number);
  return number;
}

}  // namespace pgsilo::regex
