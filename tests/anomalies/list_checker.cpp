#include <algorithm>
#include <unordered_set>

#include "tests/anomalies/checked_history.h"

namespace pgsilo::anomalies {
namespace {

using Kind = MicroOperation::Kind;

class ListChecker {
 public:
  explicit ListChecker(const ObservedHistory& history)
      : checked_(history), graph_(history.size()) {}
  Judgement check();

 private:
  struct Readers {
    int transaction;
    size_t length;  // of what was read, without one's own appends
  };
  struct List {
    std::vector<Element> longest;
    int reader = -1;
    std::vector<Readers> reads;
    std::vector<int> unseen;  // appended for certain, in no read
  };

  void collect_longest();
  void check_within(int index);
  void collect_reads(int index);
  void collect_unseen();
  void add_edges(Key key, const List& list);

  CheckedHistory checked_;
  DependencyGraph graph_;
  std::unordered_map<Key, List> lists_;
};

// Also of transactions of which nobody knows whether they committed: what they were told was there.
void ListChecker::collect_longest() {
  for (int i = 0; i < checked_.size(); ++i) {
    if (!checked_.is_committed(i)) continue;
    for (const MicroOperation& each : checked_[i].operations) {
      if (each.kind != Kind::read || !each.is_answered) continue;
      List& list = lists_[each.key];
      if (each.elements.size() <= list.longest.size() && list.reader >= 0) continue;
      list.longest = each.elements;
      list.reader = i;
    }
  }
  // What is said of its elements is said of all reads, which are beginnings of it.
  for (const auto& [key, list] : lists_) {
    std::unordered_set<Element> there;
    for (Element element : list.longest) {
      checked_.check_written(list.reader, key, element);
      if (!there.insert(element).second)
        checked_.add("duplicate element",
                     std::to_string(element) + " in " + checked_.name(list.reader));
    }
  }
}

// A transaction sees its own appends, and between them the same list.
void ListChecker::check_within(int index) {
  struct Known {
    bool is_read = false;
    std::vector<Element> elements;  // the list, or if it was not read its end
  };
  std::unordered_map<Key, Known> known;
  for (const MicroOperation& each : checked_[index].operations) {
    Known& own = known[each.key];
    if (each.kind == Kind::append) {
      own.elements.push_back(each.elements[0]);
      continue;
    }
    if (!each.is_answered) continue;
    size_t count = own.elements.size();
    bool fits = own.is_read
                    ? each.elements == own.elements
                    : count <= each.elements.size() &&
                          std::equal(own.elements.begin(), own.elements.end(),
                                     each.elements.end() - static_cast<std::ptrdiff_t>(count));
    if (!fits) checked_.add("internal", checked_.name(index));
    own = {true, each.elements};
  }
}

void ListChecker::collect_reads(int index) {
  std::unordered_set<Key> changed;
  for (const MicroOperation& each : checked_[index].operations) {
    if (each.kind == Kind::append) {
      changed.insert(each.key);
      continue;
    }
    if (!each.is_answered) continue;
    List& list = lists_[each.key];
    size_t length = each.elements.size();
    if (length > list.longest.size() ||
        !std::equal(each.elements.begin(), each.elements.end(), list.longest.begin())) {
      checked_.add("incompatible order",
                   checked_.name(index) + "\n  " + checked_.name(list.reader));
      continue;
    }
    if (length > 0) checked_.check_newest(index, each.key, each.elements.back());
    // One's own appends are the end of what one reads.
    auto is_own = [&] {
      const auto* write = checked_.write_of(each.key, each.elements[length - 1]);
      return write != nullptr && write->transaction == index;
    };
    while (changed.contains(each.key) && length > 0 && is_own()) --length;
    list.reads.push_back({index, length});
  }
}

void ListChecker::collect_unseen() {
  std::unordered_map<Key, std::unordered_set<Element>> seen;
  for (const auto& [key, list] : lists_) seen[key].insert(list.longest.begin(), list.longest.end());
  for (int i = 0; i < checked_.size(); ++i) {
    if (!checked_.is_committed(i)) continue;
    for (const MicroOperation& each : checked_[i].operations) {
      if (each.kind != Kind::append || seen[each.key].contains(each.elements[0])) continue;
      std::vector<int>& unseen = lists_[each.key].unseen;
      if (unseen.empty() || unseen.back() != i) unseen.push_back(i);
    }
  }
}

void ListChecker::add_edges(Key key, const List& list) {
  auto writer = [&](size_t index) {
    const auto* write = checked_.write_of(key, list.longest[index]);
    return write == nullptr || !checked_.is_committed(write->transaction) ? -1 : write->transaction;
  };
  size_t length = list.longest.size();
  for (size_t i = 1; i < length; ++i) {
    if (writer(i - 1) >= 0 && writer(i) >= 0)
      graph_.add(writer(i - 1), writer(i), Dependency::write_write, key);
  }
  for (const Readers& read : list.reads) {
    if (read.length > 0 && writer(read.length - 1) >= 0)
      graph_.add(writer(read.length - 1), read.transaction, Dependency::write_read, key);
    if (read.length < length) {
      if (writer(read.length) >= 0)
        graph_.add(read.transaction, writer(read.length), Dependency::read_write, key);
      continue;
    }
    for (int each : list.unseen) graph_.add(read.transaction, each, Dependency::read_write, key);
  }
  for (int each : list.unseen) {
    if (length > 0 && writer(length - 1) >= 0)
      graph_.add(writer(length - 1), each, Dependency::write_write, key);
  }
}

Judgement ListChecker::check() {
  checked_.find_committed();
  collect_longest();
  for (int i = 0; i < checked_.size(); ++i) {
    if (!checked_.is_committed(i)) continue;
    check_within(i);
    collect_reads(i);
  }
  collect_unseen();
  for (const auto& [key, list] : lists_) add_edges(key, list);
  return checked_.judge(graph_);
}

}  // namespace

Judgement check_lists(const ObservedHistory& history) { return ListChecker(history).check(); }

}  // namespace pgsilo::anomalies
