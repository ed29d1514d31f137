// What both checkers do: who wrote what, who counts as committed, reads that contradict the
// transaction they are in, and the search for cycles.
// Thread safety: none.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "tests/anomalies/anomaly_checker.h"
#include "tests/anomalies/dependency_graph.h"

namespace pgsilo::anomalies {

class CheckedHistory {
 public:
  explicit CheckedHistory(const ObservedHistory& history);

  struct Write {
    int transaction = -1;
    bool is_last = true;  // of its transaction, of that key
  };
  // Null: nobody wrote it.
  const Write* write_of(Key key, Element element) const;

  // What everybody was told was written for certain, if others or oneself know of it.
  void find_committed();
  bool is_committed(int transaction) const { return committed_[static_cast<size_t>(transaction)]; }

  // That it was written by somebody who was not told that it failed. False: it was not.
  bool check_written(int reader, Key key, Element element);
  // That, as the newest that `reader` saw, it is the last that its writer wrote there.
  void check_newest(int reader, Key key, Element element);
  void add(const std::string& name, const std::string& text);
  std::string name(int transaction) const;

  Judgement judge(DependencyGraph& graph);
  const ObservedHistory& history() const { return history_; }
  int size() const { return static_cast<int>(history_.size()); }
  const ObservedTransaction& operator[](int index) const {
    return history_[static_cast<size_t>(index)];
  }

 private:
  static uint64_t place(Key key, Element element) {
    return static_cast<uint64_t>(static_cast<uint32_t>(key)) << 32 | static_cast<uint32_t>(element);
  }

  const ObservedHistory& history_;
  std::unordered_map<uint64_t, Write> writes_;
  std::vector<char> committed_;
  Judgement judgement_;
};

}  // namespace pgsilo::anomalies
