#include "tests/history/serialization_graph.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace pgsilo::history {
namespace {

const char* name_of(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::real_time:
      return "ended before the beginning of";
    case EdgeKind::write_read:
      return "was read by";
    case EdgeKind::write_write:
      return "was overwritten by";
    case EdgeKind::read_write:
      return "read what was overwritten by";
    case EdgeKind::inferred:
      break;
  }
  return "can only have come before";
}

}  // namespace

SerializationGraph::SerializationGraph(const History& history)
    : history_{history},
      edges_(history.size()),
      by_begin_(history.size()),
      rank_end_(history.size()),
      seen_(history.size()),
      parent_(history.size()) {
  std::iota(by_begin_.begin(), by_begin_.end(), 0);
  std::sort(by_begin_.begin(), by_begin_.end(),
            [&](int left, int right) { return history_[left].begin < history_[right].begin; });
  for (size_t i = 0; i < history.size(); ++i) {
    auto later =
        std::upper_bound(by_begin_.begin(), by_begin_.end(), history[i].end,
                         [&](int64_t end, int other) { return end < history_[other].begin; });
    rank_end_[i] = static_cast<int>(later - by_begin_.begin());
  }
}

bool SerializationGraph::visit(int node, int parent, const Edge& edge, int target) {
  // Who began after the target's end comes after it.
  if (history_[node].begin > history_[target].end) return false;
  uint32_t& seen = seen_[static_cast<size_t>(node)];
  if (seen == search_) return false;
  seen = search_;
  parent_[static_cast<size_t>(node)] = {parent, edge};
  if (node == target) return true;
  stack_.push_back(node);
  return false;
}

bool SerializationGraph::search(int from, int to) {
  ++search_;
  stack_.clear();
  if (visit(from, from, {from}, to)) return true;
  // In the order of beginnings, those from here to the target's end have been visited.
  int visited_from = rank_end_[static_cast<size_t>(to)];
  while (!stack_.empty()) {
    int node = stack_.back();
    stack_.pop_back();
    if (precedes(node, to)) return visit(to, node, {to}, to);
    for (const Edge& edge : edges_[static_cast<size_t>(node)]) {
      if (visit(edge.to, node, edge, to)) return true;
    }
    for (int first = rank_end_[static_cast<size_t>(node)]; visited_from > first;) {
      int other = by_begin_[static_cast<size_t>(--visited_from)];
      visit(other, node, {other}, to);
    }
  }
  return false;
}

std::vector<SerializationGraph::Step> SerializationGraph::path(int from, int to) {
  std::vector<Step> steps;
  if (!search(from, to)) return steps;
  for (int node = to; node != from; node = steps.back().from)
    steps.push_back(parent_[static_cast<size_t>(node)]);
  std::reverse(steps.begin(), steps.end());
  return steps;
}

bool SerializationGraph::add(int from, int to, EdgeKind kind, Key key) {
  if (from == to) return true;
  if (reaches(to, from)) return false;
  edges_[static_cast<size_t>(from)].push_back({to, kind, key});
  added_.push_back(from);
  return true;
}

void SerializationGraph::undo_to(size_t mark) {
  for (; added_.size() > mark; added_.pop_back())
    edges_[static_cast<size_t>(added_.back())].pop_back();
}

std::string SerializationGraph::describe(const std::vector<Step>& steps) const {
  std::string text;
  std::set<int> named;
  for (const Step& step : steps) {
    text += "  T" + std::to_string(step.from) + " " + name_of(step.edge.kind) + " T" +
            std::to_string(step.edge.to);
    if (step.edge.kind != EdgeKind::real_time)
      text += " (key " + std::to_string(step.edge.key) + ")";
    text += "\n";
    named.insert({step.from, step.edge.to});
  }
  for (int node : named) text += "  T" + std::to_string(node) + ": " + history_[node].text() + "\n";
  return text;
}

}  // namespace pgsilo::history
