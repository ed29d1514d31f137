#include <algorithm>

#include "tests/anomalies/checked_history.h"

namespace pgsilo::anomalies {
namespace {

using Kind = MicroOperation::Kind;
constexpr int64_t never = std::numeric_limits<int64_t>::max();

class RegisterChecker {
 public:
  explicit RegisterChecker(const ObservedHistory& history)
      : checked_(history), graph_(history.size()) {}
  Judgement check();

 private:
  struct Version {
    Element element = no_element;
    int writer = -1;
    std::vector<int> readers;
    std::vector<size_t> followers;  // written by who had read this one
    int64_t first_end = never;      // of those who touched it
    int64_t last_begin = -1;
    size_t index = 0;
  };
  struct Register {
    std::vector<Version> versions;
    std::unordered_map<Element, size_t> places;
  };

  Version& version(Key key, Element element);
  void touch(int index, Version& version);
  void collect(int index);
  bool order_by_time(Key key, Register& all);
  bool is_acyclic(const Register& all) const;
  void add_edges(Key key, const Version& before, const Version& after);

  CheckedHistory checked_;
  DependencyGraph graph_;
  std::unordered_map<Key, Register> registers_;
};

RegisterChecker::Version& RegisterChecker::version(Key key, Element element) {
  Register& all = registers_[key];
  if (all.versions.empty()) {  // what was there before all others: nothing
    all.versions.emplace_back().first_end = -1;
    all.places[no_element] = 0;
  }
  auto [place, is_new] = all.places.try_emplace(element, all.versions.size());
  if (is_new) {
    Version& added = all.versions.emplace_back();
    added.element = element;
    added.index = place->second;
    const CheckedHistory::Write* write = checked_.write_of(key, element);
    if (write != nullptr && checked_.is_committed(write->transaction))
      added.writer = write->transaction;
  }
  return all.versions[place->second];
}

void RegisterChecker::touch(int index, Version& version) {
  const ObservedTransaction& transaction = checked_[index];
  if (transaction.outcome == Outcome::ok)
    version.first_end = std::min(version.first_end, transaction.completed);
  version.last_begin = std::max(version.last_begin, transaction.invoked);
}

void RegisterChecker::collect(int index) {
  struct Known {
    Element element = no_element;
    bool is_known = false, is_written = false;
    Element read = no_element;  // of others, before one's own write
    bool was_read = false;
  };
  std::unordered_map<Key, Known> known;
  for (const MicroOperation& each : checked_[index].operations) {
    if (!each.is_answered) continue;
    Known& own = known[each.key];
    Element element = each.elements.empty() ? no_element : each.elements[0];
    if (each.kind == Kind::write) {
      own.element = element;
      own.is_known = own.is_written = true;
      continue;
    }
    if (own.is_known && own.element != element) checked_.add("internal", checked_.name(index));
    if (!own.is_known &&
        (element == no_element || checked_.check_written(index, each.key, element))) {
      if (element != no_element) checked_.check_newest(index, each.key, element);
      own.read = element;
      own.was_read = true;
    }
    own.element = element;
    own.is_known = true;
  }
  for (const auto& [key, own] : known) {
    if (own.was_read) {
      Version& read = version(key, own.read);
      read.readers.push_back(index);
      touch(index, read);
    }
    if (!own.is_written) continue;
    Version& written = version(key, own.element);
    touch(index, written);
    size_t follower = written.index;
    if (own.was_read) version(key, own.read).followers.push_back(follower);
  }
}

// The versions that come next by time: what was touched by somebody invoked after somebody who
// touched this one had completed, and before which nothing else comes in between.
bool RegisterChecker::order_by_time(Key key, Register& all) {
  std::vector<size_t> order(all.versions.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  auto begin = [&](size_t i) { return all.versions[order[i]].last_begin; };
  auto end = [&](size_t i) { return all.versions[order[i]].first_end; };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return all.versions[a].last_begin < all.versions[b].last_begin;
  });
  // Of those from i on, the two that had an end first.
  struct Two {
    size_t first, second;
  };
  size_t count = order.size();
  std::vector<Two> least(count + 1, {count, count});
  auto end_of = [&](size_t i) { return i == count ? never : end(i); };
  for (size_t i = count; i-- > 0;) {
    least[i] = least[i + 1];
    if (end_of(i) < end_of(least[i].first)) {
      least[i] = {i, least[i].first};
    } else if (end_of(i) < end_of(least[i].second)) {
      least[i].second = i;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (end(i) == never) continue;
    size_t first =
        static_cast<size_t>(std::upper_bound(order.begin(), order.end(), end(i),
                                             [&](int64_t time, size_t version) {
                                               return time < all.versions[version].last_begin;
                                             }) -
                            order.begin());
    size_t bound = least[first].first == i ? least[first].second : least[first].first;
    for (size_t j = first; j < count && begin(j) <= end_of(bound); ++j) {
      if (j == i) continue;
      // Both before each other?
      if (end(j) < begin(i)) {
        const Version& one = all.versions[order[i]];
        const Version& other = all.versions[order[j]];
        checked_.add("cyclic versions", "key " + std::to_string(key) + ": " +
                                            std::to_string(one.element) + " and " +
                                            std::to_string(other.element));
        return false;
      }
      all.versions[order[i]].followers.push_back(order[j]);
    }
  }
  return true;
}

bool RegisterChecker::is_acyclic(const Register& all) const {
  std::vector<size_t> before(all.versions.size(), 0), ready;
  for (const Version& each : all.versions) {
    for (size_t follower : each.followers) ++before[follower];
  }
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i] == 0) ready.push_back(i);
  }
  size_t done = 0;
  for (; done < ready.size(); ++done) {
    for (size_t follower : all.versions[ready[done]].followers) {
      if (--before[follower] == 0) ready.push_back(follower);
    }
  }
  return done == before.size();
}

void RegisterChecker::add_edges(Key key, const Version& before, const Version& after) {
  if (after.writer < 0) return;
  if (before.writer >= 0) graph_.add(before.writer, after.writer, Dependency::write_write, key);
  for (int reader : before.readers) graph_.add(reader, after.writer, Dependency::read_write, key);
}

Judgement RegisterChecker::check() {
  checked_.find_committed();
  for (int i = 0; i < checked_.size(); ++i) {
    if (checked_.is_committed(i)) collect(i);
  }
  for (auto& [key, all] : registers_) {
    for (const Version& each : all.versions) {
      for (int reader : each.readers) {
        if (each.writer >= 0) graph_.add(each.writer, reader, Dependency::write_read, key);
      }
    }
    if (!order_by_time(key, all)) continue;
    if (!is_acyclic(all)) {
      checked_.add("cyclic versions", "of key " + std::to_string(key));
      continue;
    }
    for (const Version& each : all.versions) {
      for (size_t follower : each.followers) add_edges(key, each, all.versions[follower]);
    }
  }
  return checked_.judge(graph_);
}

}  // namespace

Judgement check_registers(const ObservedHistory& history) {
  return RegisterChecker(history).check();
}

}  // namespace pgsilo::anomalies
