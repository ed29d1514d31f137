#include "tests/anomalies/checked_history.h"

#include <algorithm>

namespace pgsilo::anomalies {
namespace {

using Kind = MicroOperation::Kind;
constexpr size_t most_of_a_kind = 10;  // of one anomaly that are told

const char* word_of(Dependency kind) {
  switch (kind) {
    case Dependency::write_write:
      return "whose write was overwritten by";
    case Dependency::write_read:
      return "whose write was read by";
    case Dependency::read_write:
      return "which did not see the write of";
    case Dependency::real_time:
      return "which had completed before";
  }
  return "";
}

}  // namespace

CheckedHistory::CheckedHistory(const ObservedHistory& history)
    : history_(history), committed_(history.size(), 0) {
  for (int i = 0; i < size(); ++i) {
    std::unordered_map<Key, Write*> last;
    for (const MicroOperation& each : history[static_cast<size_t>(i)].operations) {
      if (each.kind == Kind::read) continue;
      auto [found, is_new] = writes_.try_emplace(place(each.key, each.elements[0]), Write{i, true});
      if (!is_new) add("duplicate write", name(i));
      Write*& before = last[each.key];
      if (before != nullptr) before->is_last = false;
      before = &found->second;
    }
  }
}

const CheckedHistory::Write* CheckedHistory::write_of(Key key, Element element) const {
  auto found = writes_.find(place(key, element));
  return found == writes_.end() ? nullptr : &found->second;
}

void CheckedHistory::find_committed() {
  for (int i = 0; i < size(); ++i) {
    bool is_told = (*this)[i].outcome == Outcome::ok;
    judgement_.committed += is_told ? 1 : 0;
    judgement_.indeterminate += (*this)[i].outcome == Outcome::info ? 1 : 0;
    if (is_told) committed_[static_cast<size_t>(i)] = 1;
  }
  std::unordered_map<Key, std::unordered_map<Element, int>> doubtful;
  for (int i = 0; i < size(); ++i) {
    if ((*this)[i].outcome != Outcome::info) continue;
    for (const MicroOperation& each : (*this)[i].operations) {
      if (each.kind != Kind::read) doubtful[each.key][each.elements[0]] = i;
    }
  }
  // Who is seen by one who counts does; so whom he saw himself is looked at next.
  std::vector<int> counting;
  for (int i = 0; i < size(); ++i) {
    if (is_committed(i)) counting.push_back(i);
  }
  for (size_t next = 0; next < counting.size(); ++next) {
    for (const MicroOperation& each : (*this)[counting[next]].operations) {
      auto writes = doubtful.find(each.key);
      if (each.kind != Kind::read || writes == doubtful.end()) continue;
      for (Element element : each.elements) {
        auto write = writes->second.find(element);
        if (write == writes->second.end() || is_committed(write->second)) continue;
        committed_[static_cast<size_t>(write->second)] = 1;
        counting.push_back(write->second);
        ++judgement_.seen;
      }
    }
  }
}

bool CheckedHistory::check_written(int reader, Key key, Element element) {
  const Write* write = write_of(key, element);
  std::string what = "element " + std::to_string(element) + " of key " + std::to_string(key);
  if (write == nullptr) {
    add("garbage read", what + ", which nobody wrote, in " + name(reader));
    return false;
  }
  bool is_told = (*this)[write->transaction].outcome != Outcome::fail;
  if (!is_told)
    add("G1a", what + " in " + name(reader) + ", written by " + name(write->transaction));
  return is_told;
}

void CheckedHistory::check_newest(int reader, Key key, Element element) {
  const Write* write = write_of(key, element);
  if (write == nullptr || write->is_last || write->transaction == reader) return;
  add("G1b", "element " + std::to_string(element) + " of key " + std::to_string(key) + " in " +
                 name(reader) + ", written in between by " + name(write->transaction));
}

void CheckedHistory::add(const std::string& name, const std::string& text) {
  auto is_same = [&](const Anomaly& each) { return each.name == name; };
  auto& found = judgement_.anomalies;
  if (static_cast<size_t>(std::count_if(found.begin(), found.end(), is_same)) < most_of_a_kind)
    found.push_back({name, text});
}

std::string CheckedHistory::name(int transaction) const {
  return "T" + std::to_string(transaction) + " (" + text_of((*this)[transaction]) + ")";
}

Judgement CheckedHistory::judge(DependencyGraph& graph) {
  std::vector<DependencyGraph::Span> spans;
  for (int i = 0; i < size(); ++i) {
    if (!is_committed(i)) continue;
    bool has_end = (*this)[i].outcome == Outcome::ok;
    spans.push_back({i, (*this)[i].invoked, has_end ? (*this)[i].completed : -1});
  }
  graph.add_real_time(std::move(spans));
  for (const Cycle& cycle : graph.cycles()) {
    std::string text;
    for (const Cycle::Step& step : cycle.steps) {
      text += "\n  " + name(step.transaction) + ", " + word_of(step.to_next);
      if (step.to_next != Dependency::real_time) text += " (key " + std::to_string(step.key) + ")";
    }
    add(cycle.name, text + "\n  the first");
  }
  judgement_.edges = graph.edges();
  return judgement_;
}

}  // namespace pgsilo::anomalies
