#include "tests/anomalies/dependency_graph.h"

#include <algorithm>
#include <deque>

namespace pgsilo::anomalies {

void DependencyGraph::add(int from, int to, Dependency kind, Key key) {
  if (from == to) return;
  edges_[static_cast<size_t>(from)].push_back({to, kind, key});
  ++count_;
}

void DependencyGraph::add_real_time(std::vector<Span> spans) {
  std::vector<Span> ended;
  for (const Span& each : spans) {
    if (each.completed >= 0) ended.push_back(each);
  }
  std::sort(ended.begin(), ended.end(),
            [](const Span& a, const Span& b) { return a.completed < b.completed; });
  int first = static_cast<int>(edges_.size());
  edges_.resize(edges_.size() + ended.size());
  for (size_t i = 0; i < ended.size(); ++i) {
    int node = first + static_cast<int>(i);
    add(ended[i].transaction, node, Dependency::real_time, 0);
    if (i > 0) add(node - 1, node, Dependency::real_time, 0);
  }
  for (const Span& each : spans) {
    auto later = std::lower_bound(
        ended.begin(), ended.end(), each.invoked,
        [](const Span& span, int64_t invoked) { return span.completed < invoked; });
    if (later == ended.begin()) continue;
    int before = static_cast<int>(later - ended.begin()) - 1;
    add(first + before, each.transaction, Dependency::real_time, 0);
  }
}

// Tarjan's algorithm without recursion.
std::vector<int> DependencyGraph::parts(Kinds kinds) const {
  size_t count = edges_.size();
  std::vector<int> order(count, -1), low(count, 0), part(count, -1);
  std::vector<char> open(count, 0);
  std::vector<int> stack;
  struct Frame {
    int node;
    size_t edge;
  };
  std::vector<Frame> frames;
  int next = 0, parts = 0;
  auto enter = [&](int node) {
    order[static_cast<size_t>(node)] = low[static_cast<size_t>(node)] = next++;
    open[static_cast<size_t>(node)] = 1;
    stack.push_back(node);
    frames.push_back({node, 0});
  };
  auto leave = [&](int node) {
    auto at = static_cast<size_t>(node);
    if (low[at] != order[at]) return;
    bool is_alone = stack.back() == node;
    for (int member = -1; member != node;) {
      member = stack.back();
      stack.pop_back();
      open[static_cast<size_t>(member)] = 0;
      part[static_cast<size_t>(member)] = is_alone ? -1 : parts;
    }
    parts += is_alone ? 0 : 1;
  };
  for (size_t root = 0; root < count; ++root) {
    if (order[root] >= 0) continue;
    enter(static_cast<int>(root));
    while (!frames.empty()) {
      Frame& frame = frames.back();
      auto at = static_cast<size_t>(frame.node);
      if (frame.edge == edges_[at].size()) {
        int node = frame.node;
        frames.pop_back();
        leave(node);
        if (!frames.empty()) {
          auto parent = static_cast<size_t>(frames.back().node);
          low[parent] = std::min(low[parent], low[static_cast<size_t>(node)]);
        }
        continue;
      }
      const Edge& edge = edges_[at][frame.edge++];
      if ((kinds & bit(edge.kind)) == 0) continue;
      auto to = static_cast<size_t>(edge.to);
      if (order[to] < 0) {
        enter(edge.to);
      } else if (open[to] != 0) {
        low[at] = std::min(low[at], order[to]);
      }
    }
  }
  return part;
}

std::vector<Cycle::Step> DependencyGraph::way(int from, int to, Kinds kinds,
                                              const std::vector<int>& part) const {
  std::vector<std::pair<int, const Edge*>> came(edges_.size(), {-1, nullptr});
  std::deque<int> queue = {from};
  int wanted = part[static_cast<size_t>(from)];
  bool found = false;
  while (!queue.empty() && !found) {
    int node = queue.front();
    queue.pop_front();
    for (const Edge& edge : edges_[static_cast<size_t>(node)]) {
      auto next = static_cast<size_t>(edge.to);
      if ((kinds & bit(edge.kind)) == 0 || part[next] != wanted || came[next].second != nullptr)
        continue;
      came[next] = {node, &edge};
      found |= edge.to == to;
      queue.push_back(edge.to);
    }
  }
  std::vector<Cycle::Step> steps;
  if (!found) return steps;
  for (int node = to; steps.empty() || node != from;) {
    auto [before, edge] = came[static_cast<size_t>(node)];
    steps.push_back({before, edge->kind, edge->key});
    node = before;
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

bool DependencyGraph::cycle_of_part(Kinds kinds, const std::vector<int>& part, int number,
                                    const std::vector<int>& nodes, bool needs_one_rw,
                                    Cycle* found) const {
  constexpr size_t tries = 2000;  // a part of a broken history may hold all of it
  size_t tried = 0;
  for (int node : nodes) {
    for (const Edge& edge : edges_[static_cast<size_t>(node)]) {
      bool is_start = needs_one_rw
                          ? edge.kind == Dependency::read_write
                          : (kinds & bit(edge.kind)) != 0 && edge.kind != Dependency::real_time;
      if (!is_start || part[static_cast<size_t>(edge.to)] != number) continue;
      Kinds rest = needs_one_rw ? kinds & ~bit(Dependency::read_write) : kinds;
      std::vector<Cycle::Step> steps = way(edge.to, node, rest, part);
      if (!steps.empty()) {
        found->steps = {{node, edge.kind, edge.key}};
        found->steps.insert(found->steps.end(), steps.begin(), steps.end());
        return true;
      }
      if (++tried == tries) return false;
    }
  }
  return false;
}

void DependencyGraph::search(const char* name, Kinds kinds, bool needs_one_rw,
                             std::vector<char>* explained, std::vector<Cycle>* found) const {
  std::vector<int> part = parts(kinds);
  std::vector<std::vector<int>> nodes;
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i] < 0) continue;
    nodes.resize(std::max(nodes.size(), static_cast<size_t>(part[i]) + 1));
    nodes[static_cast<size_t>(part[i])].push_back(static_cast<int>(i));
  }
  for (size_t number = 0; number < nodes.size(); ++number) {
    auto is_known = [&](int node) { return (*explained)[static_cast<size_t>(node)] != 0; };
    if (nodes[number].empty() || std::any_of(nodes[number].begin(), nodes[number].end(), is_known))
      continue;
    Cycle cycle{name, {}};
    if (!cycle_of_part(kinds, part, static_cast<int>(number), nodes[number], needs_one_rw, &cycle))
      continue;
    for (int each : nodes[number]) (*explained)[static_cast<size_t>(each)] = 1;
    found->push_back(std::move(cycle));
  }
}

std::vector<Cycle> DependencyGraph::cycles() const {
  const Kinds ww = bit(Dependency::write_write), wr = bit(Dependency::write_read),
              rw = bit(Dependency::read_write), time = bit(Dependency::real_time);
  std::vector<Cycle> found;
  std::vector<char> explained(edges_.size(), 0);
  search("G0", ww, false, &explained, &found);
  search("G1c", ww | wr, false, &explained, &found);
  search("G-single", ww | wr | rw, true, &explained, &found);
  search("G2", ww | wr | rw, false, &explained, &found);
  search("G0-realtime", ww | time, false, &explained, &found);
  search("G1c-realtime", ww | wr | time, false, &explained, &found);
  search("G-single-realtime", ww | wr | rw | time, true, &explained, &found);
  search("G2-realtime", ww | wr | rw | time, false, &explained, &found);
  // The nodes of the chain are no transactions: two steps over them are one.
  for (Cycle& cycle : found) {
    auto is_between = [&](const Cycle::Step& step) {
      return static_cast<size_t>(step.transaction) >= transactions_;
    };
    std::erase_if(cycle.steps, is_between);
  }
  return found;
}

}  // namespace pgsilo::anomalies
