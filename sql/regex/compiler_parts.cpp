// The parts of an expression that a match is divided among.
#include "sql/regex/compiler.h"
#include "sql/regex/regex_error.h"

namespace pgsilo::regex {

PartId Compiler::add_part(Part::Kind kind, Traits traits, Ends ends) {
  Part part;
  part.kind = kind;
  part.traits = traits;
  part.begin = ends.begin;
  part.end = ends.end;
  program_.parts.push_back(part);
  return static_cast<PartId>(program_.parts.size() - 1);
}

void Compiler::append_child(PartId parent, PartId child, PartId& last) {
  (last == no_part ? program_.parts[parent].first : program_.parts[last].next) = child;
  last = child;
}

PartId Compiler::build_alternation(NodeId id) {
  require_stack();
  const Node& alternation = node(id);
  if (node(alternation.first).next == no_node) return build_branch(alternation.first);
  if (!alternation.traits.need_dissection())
    return add_part(Part::Kind::opaque, alternation.traits, emit_alternation(id));
  PartId part = add_part(Part::Kind::alternation, alternation.traits);
  StateId begin = new_state();
  PartId last = no_part;
  for (NodeId branch = alternation.first; branch != no_node; branch = node(branch).next) {
    PartId child = build_branch(branch);
    append_child(part, child, last);
    add_arc(begin, program_.parts[child].begin);
  }
  StateId end = new_state();
  for (PartId child = program_.parts[part].first; child != no_part;
       child = program_.parts[child].next)
    add_arc(program_.parts[child].end, end);
  program_.parts[part].begin = begin;
  program_.parts[part].end = end;
  return part;
}

PartId Compiler::build_branch(NodeId id) {
  const Node& branch = node(id);
  if (branch.first == no_node)
    return add_part(Part::Kind::opaque, Traits(), emit_atoms(no_node, 0));
  AskingVector<Segment> row = segments(tree_.nodes, branch.first);
  if (row.size() > 1 || (row[0].boring > 0 && row[0].interesting != no_node)) return build_row(row);
  if (row[0].interesting != no_node) return build_item(row[0].interesting);
  return add_part(Part::Kind::opaque, row[0].traits, emit_atoms(row[0].first, row[0].boring));
}

PartId Compiler::build_row(const AskingVector<Segment>& row) {
  PartId part = add_part(Part::Kind::concatenation, row[0].traits);
  StateId begin = new_state();
  StateId behind = begin;
  PartId last = no_part;
  auto append = [&](PartId child) {
    append_child(part, child, last);
    add_arc(behind, program_.parts[child].begin);
    behind = program_.parts[child].end;
  };
  for (const Segment& segment : row) {
    if (segment.boring > 0)
      append(add_part(Part::Kind::opaque, segment.boring_traits,
                      emit_atoms(segment.first, segment.boring)));
    if (segment.interesting != no_node) append(build_item(segment.interesting));
  }
  StateId end = new_state();
  add_arc(behind, end);
  program_.parts[part].begin = begin;
  program_.parts[part].end = end;
  return part;
}

// An atom with its quantifier.
PartId Compiler::build_item(NodeId id) {
  const Node& atom = node(id);
  if (atom.kind == Node::Kind::back_reference) return build_back_reference(id);
  const Quantifier& quantifier = atom.quantifier;
  uint8_t own = atom.traits.preference() | (atom.traits.has(Traits::mixed) ? Traits::mixed : 0);
  bool keeps = quantifier.preference == 0 || own == 0 || quantifier.preference == own;
  if (quantifier.is_once() && keeps) return build_atom(id);
  // Nobody asks what was repeated where.
  if (!atom.traits.has(Traits::captures | Traits::back_references))
    return add_part(Part::Kind::opaque, quantified_traits(atom),
                    emit_repeated(id, quantifier.least, quantifier.most));
  if (quantifier.least > 0 && !atom.traits.has(Traits::back_references))
    return build_last_of_many(id);
  return build_repetition(id);
}

PartId Compiler::build_atom(NodeId id) {
  const Node& atom = node(id);
  if (atom.kind != Node::Kind::group)
    return add_part(Part::Kind::opaque, atom.traits, emit_atom(id));
  PartId inner = build_alternation(atom.first);
  if (atom.value == 0) return inner;
  if (program_.parts[inner].capture != 0) {
    Part& part = program_.parts[inner];
    PartId outer = add_part(Part::Kind::group, part.traits, {part.begin, part.end});
    program_.parts[outer].first = inner;
    inner = outer;
  }
  Part& part = program_.parts[inner];
  part.capture = atom.value;
  part.traits = part.traits.with(Traits::captures);
  return inner;
}

PartId Compiler::build_back_reference(NodeId id) {
  const Node& atom = node(id);
  PartId part = add_part(Part::Kind::back_reference, quantified_traits(atom),
                         emit_repeated(id, atom.quantifier.least, atom.quantifier.most));
  program_.parts[part].referred = atom.value;
  program_.parts[part].least = atom.quantifier.least;
  program_.parts[part].most = atom.quantifier.most;
  return part;
}

// x{m,n} as x{m-1,n-1}x: only what the last x captures is asked for.
PartId Compiler::build_last_of_many(NodeId id) {
  const Node& atom = node(id);
  Traits traits = quantified_traits(atom);
  uint32_t most = atom.quantifier.most == unbounded ? unbounded : atom.quantifier.most - 1;
  PartId part = add_part(Part::Kind::concatenation, traits);
  StateId begin = new_state();
  PartId many = add_part(Part::Kind::opaque, Traits(traits.preference()),
                         emit_repeated(id, atom.quantifier.least - 1u, most));
  PartId one = build_atom(id);
  StateId end = new_state();
  add_arc(begin, program_.parts[many].begin);
  add_arc(program_.parts[many].end, program_.parts[one].begin);
  add_arc(program_.parts[one].end, end);
  program_.parts[part].begin = begin;
  program_.parts[part].end = end;
  program_.parts[part].first = many;
  program_.parts[many].next = one;
  return part;
}

// As emit_repeated(), with a joint before each copy and the first copy as a part.
PartId Compiler::build_repetition(NodeId id) {
  const Node& atom = node(id);
  uint16_t least = atom.quantifier.least;
  uint16_t most = atom.quantifier.most;
  PartId part = add_part(Part::Kind::repetition, quantified_traits(atom));
  StateId begin = new_state();
  AskingVector<StateId> joints{new_state()};
  add_arc(begin, joints[0]);
  PartId child = build_atom(id);
  add_arc(joints[0], program_.parts[child].begin);
  StateId last = program_.parts[child].end;
  uint32_t copies = most == unbounded ? least : most;
  for (uint32_t i = 1; i < copies; ++i) {
    joints.push_back(last);
    Ends copy = emit_atom(id);
    add_arc(last, copy.begin);
    last = copy.end;
  }
  // What is not bounded goes on from its last copy, into that again.
  if (most == unbounded) add_arc(last, joints.back());
  StateId end = new_state();
  add_arc(last, end);
  for (uint32_t i = least; i < joints.size(); ++i) add_arc(joints[i], end);
  Part& made = program_.parts[part];
  made.begin = begin;
  made.end = end;
  made.first = child;
  made.least = least;
  made.most = most;
  made.joints = static_cast<uint32_t>(program_.joints.size());
  if (most != unbounded)
    program_.joints.insert(program_.joints.end(), joints.begin(), joints.end());
  return part;
}

}  // namespace pgsilo::regex
