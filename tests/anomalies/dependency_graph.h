// Transactions and why one of them must come before another (Adya's dependencies, and real time),
// and the search for cycles, from those of the worst kind on.
//
// Real time has a linear number of edges: a chain of nodes, one for each completion, of which every
// transaction is behind those that completed before it was invoked.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/anomalies/observed_history.h"

namespace pgsilo::anomalies {

enum class Dependency : uint8_t {
  write_write,  // the other overwrote its version
  write_read,   // the other read its version
  read_write,   // the other overwrote what it read
  real_time,    // it completed before the other was invoked
};

struct Cycle {
  std::string name;  // G0, G1c, G-single, G2, with -realtime if real time is needed for it
  struct Step {
    int transaction;
    Dependency to_next;
    Key key;
  };
  std::vector<Step> steps;
};

class DependencyGraph {
 public:
  explicit DependencyGraph(size_t transactions)
      : edges_(transactions), transactions_(transactions) {}

  // An edge to oneself is none.
  void add(int from, int to, Dependency kind, Key key);
  // For those that are in the history for certain; what has no end is negative.
  struct Span {
    int transaction;
    int64_t invoked;
    int64_t completed;
  };
  void add_real_time(std::vector<Span> spans);

  // One cycle of each strongly connected part, named by the least that it needs.
  std::vector<Cycle> cycles() const;
  size_t edges() const { return count_; }

 private:
  struct Edge {
    int to;
    Dependency kind;
    Key key;
  };
  using Kinds = unsigned;  // a bit for each
  static Kinds bit(Dependency kind) { return 1U << static_cast<unsigned>(kind); }

  // The part of each node, of parts with more than one node; -1 for others.
  std::vector<int> parts(Kinds kinds) const;
  // The shortest way, over `kinds` and within the part; empty: none.
  std::vector<Cycle::Step> way(int from, int to, Kinds kinds, const std::vector<int>& part) const;
  bool cycle_of_part(Kinds kinds, const std::vector<int>& part, int number,
                     const std::vector<int>& nodes, bool needs_one_rw, Cycle* found) const;
  void search(const char* name, Kinds kinds, bool needs_one_rw, std::vector<char>* explained,
              std::vector<Cycle>* found) const;

  std::vector<std::vector<Edge>> edges_;
  const size_t transactions_;
  size_t count_ = 0;
};

}  // namespace pgsilo::anomalies
