// Who must come before whom: the transactions of a history, edges between them, and real time,
// which orders those that did not overlap. Never has a cycle: an edge that would close one is
// refused, and path() tells why.
//
// Real time needs no edges of its own, and it keeps searches short: a path from one transaction to
// another runs only through such as began before the latter ended.
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/history/history.h"

namespace pgsilo::history {

enum class EdgeKind : uint8_t {
  real_time,    // ended before the other began
  write_read,   // its version was read by the other
  write_write,  // its version was replaced by the other
  read_write,   // it read what the other replaced
  inferred,     // the only way in which what one of them was told can be true
};

class SerializationGraph {
 public:
  struct Edge {
    int to = 0;
    EdgeKind kind = EdgeKind::real_time;
    Key key = 0;
  };
  struct Step {
    int from = 0;
    Edge edge;
  };

  explicit SerializationGraph(const History& history);

  bool precedes(int from, int to) const { return history_[from].end < history_[to].begin; }
  bool reaches(int from, int to) { return precedes(from, to) || search(from, to); }
  // The steps of a path, empty if there is none.
  std::vector<Step> path(int from, int to);
  // False, and nothing changes, if `to` reaches `from`. An edge to oneself is none.
  bool add(int from, int to, EdgeKind kind, Key key);

  // Edges added so far; undo_to() takes away those added since.
  size_t mark() const { return added_.size(); }
  void undo_to(size_t mark);

  std::string describe(const std::vector<Step>& steps) const;

 private:
  struct View {  // of a history by int
    const History& all;
    const Transaction& operator[](int index) const { return all[static_cast<size_t>(index)]; }
  };
  bool search(int from, int to);
  bool visit(int node, int parent, const Edge& edge, int target);

  const View history_;
  std::vector<std::vector<Edge>> edges_;
  std::vector<int> added_;  // the sources of the edges, in the order of adding
  std::vector<int> by_begin_;
  std::vector<int> rank_end_;  // how many began by the end of each
  // The running search.
  uint32_t search_ = 0;
  std::vector<uint32_t> seen_;
  std::vector<Step> parent_;
  std::vector<int> stack_;
};

}  // namespace pgsilo::history
