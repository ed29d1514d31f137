// Small programs of two or three threads on a tree, and whether what they saw can be explained
// (tree_interleaving_test.cpp).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/model/interleaver.h"
#include "tests/unit/storage/index/tree_fixture.h"

namespace pgsilo {

using Keys = std::set<std::string>;

struct Operation {
  enum class Kind {
    insert,
    append,
    remove,
    merge,
    get,
    guarded_get,
    scan,
    scan_back,
    scan_and_insert
  } kind;
  std::string key = {};   // or the lower bound of a scan
  std::string last = {};  // the upper bound
  std::string own = {};   // what is inserted behind the scan and before it is validated
};

inline Operation insert(std::string key) { return {Operation::Kind::insert, std::move(key)}; }
// By the thread's appender, which remembers where its key before went.
inline Operation append(std::string key) { return {Operation::Kind::append, std::move(key)}; }
inline Operation remove(std::string key) { return {Operation::Kind::remove, std::move(key)}; }
// Around the key.
inline Operation merge(std::string key) { return {Operation::Kind::merge, std::move(key)}; }
inline Operation get(std::string key) { return {Operation::Kind::get, std::move(key)}; }
// Looks for the key, and if it is absent validates that at the end.
inline Operation guarded_get(std::string key) {
  return {Operation::Kind::guarded_get, std::move(key)};
}
inline Operation scan(std::string low, std::string high) {
  return {Operation::Kind::scan, std::move(low), std::move(high)};
}
inline Operation scan_back(std::string low, std::string high) {
  return {Operation::Kind::scan_back, std::move(low), std::move(high)};
}
// As a transaction that does both, which the key that it inserts itself does not beat.
inline Operation scan_and_insert(std::string low, std::string high, std::string own) {
  return {Operation::Kind::scan_and_insert, std::move(low), std::move(high), std::move(own)};
}

struct Scenario {
  const char* name;
  std::vector<std::string> present;        // inserted in this order ...
  std::vector<std::string> removed_again;  // ... less these
  std::vector<std::vector<Operation>> threads;
  std::vector<std::string> merged = {};  // before, around these
};

// An operation as it was observed.
struct Observed {
  Operation operation;
  uint64_t began = 0;
  uint64_t ended = 0;
  bool counts = true;  // its answer can be relied on
  bool exact = true;   // all of it was there at once
  bool found = false;
  std::vector<std::string> keys = {};
};

class ScenarioRun : public Interleaver::Program {
 public:
  explicit ScenarioRun(const Scenario& scenario) : scenario_(scenario) {
    {
      TreeUser loader(*tree_, reclaimer_);
      for (const std::string& key : scenario.present) EXPECT_TRUE(loader.insert(key));
      for (const std::string& key : scenario.removed_again) EXPECT_TRUE(loader.remove(key));
      for (const std::string& key : scenario.merged) tree_->merge(key, loader.handle());
    }
    for (size_t i = 0; i < scenario.threads.size(); ++i) {
      users_.push_back(std::make_unique<TreeUser>(*tree_, reclaimer_));
      appenders_.push_back(std::make_unique<TreeAppender>(*tree_));
    }
    observed_.resize(scenario.threads.size());
    initial_.insert(scenario.present.begin(), scenario.present.end());
    for (const std::string& key : scenario.removed_again) initial_.erase(key);
  }

  void run_thread(int index) override {
    for (const Operation& operation : scenario_.threads[index]) {
      Observed observed{operation};
      uint64_t began = observed.began = Interleaver::current()->now();
      perform(index, observed);
      observed.ended = Interleaver::current()->now();
      if (operation.kind == Operation::Kind::scan_and_insert) {
        Observed own{insert(operation.own)};
        own.began = began;
        own.ended = observed.ended;
        own.found = observed.found;
        observed_[index].push_back(own);
      }
      observed_[index].push_back(observed);
      // Who appends stays pinned.
      if (!appends(scenario_.threads[index])) users_[index]->rest();
    }
  }

  std::string verdict() override {
    std::string breach = tree_->check();
    if (!breach.empty()) return "broken: " + breach;
    std::vector<std::string> left = users_[0]->scan();
    std::vector<size_t> next(observed_.size(), 0);
    if (!explained(initial_, next, Keys(left.begin(), left.end())))
      return "not linearizable: " + describe();
    return "";
  }

 private:
  static bool appends(const std::vector<Operation>& operations) {
    return std::any_of(operations.begin(), operations.end(),
                       [](const Operation& each) { return each.kind == Operation::Kind::append; });
  }
  static bool append_key(TreeAppender& appender, TreeUser& user, const std::string& key) {
    NodeChanges changes;
    Record* fresh = user.tree().records().create(key, 8, user.handle());
    for (;;) {
      Record* there = appender.append(fresh, user.handle(), changes);
      if (there == nullptr) return true;
      if (!is_obsolete(there)) break;
      user.unhook(there);
    }
    user.tree().records().destroy(fresh, user.handle());
    return false;
  }

  void perform(int thread, Observed& observed) {
    TreeUser& user = *users_[thread];
    const Operation& operation = observed.operation;
    switch (operation.kind) {
      case Operation::Kind::insert:
        observed.found = !user.insert(operation.key);
        break;
      case Operation::Kind::append:
        observed.found = !append_key(*appenders_[thread], user, operation.key);
        break;
      case Operation::Kind::remove: {
        Record* record = user.tree().get(operation.key).record;
        TidWord seen;
        observed.found = record != nullptr;
        if (record == nullptr) break;
        if (!record->tid_word().try_lock(LockPurpose::remove, seen)) {
          observed.counts = false;  // somebody else is about to unhook it
          break;
        }
        record->tid_word().unlock_obsolete();
        user.unhook(record);
        break;
      }
      case Operation::Kind::merge:
        user.tree().merge(operation.key, user.handle());
        break;
      case Operation::Kind::get:
        observed.found = user.contains(operation.key);
        break;
      case Operation::Kind::guarded_get: {
        IndexTree::Found found = user.tree().get(operation.key);
        observed.found = found.record != nullptr && !is_obsolete(found.record);
        if (found.record != nullptr) break;
        observed.began = Interleaver::current()->now();
        observed.counts = still_validates(found.node);
        break;
      }
      case Operation::Kind::scan:
      case Operation::Kind::scan_and_insert:
        return scan(user, ScanDirection::forward, observed);
      case Operation::Kind::scan_back:
        return scan(user, ScanDirection::backward, observed);
    }
  }

  static void scan(TreeUser& user, ScanDirection direction, Observed& observed) {
    const Operation& operation = observed.operation;
    CollectingObserver set;
    KeyRange range{KeyBound::inclusive(operation.key), KeyBound::inclusive(operation.last)};
    ScanCursor cursor(user.tree(), range, direction, &set);
    std::vector<Record*> records;
    while (Record* record = cursor.next()) records.push_back(record);
    if (direction == ScanDirection::backward) std::reverse(records.begin(), records.end());
    for (Record* record : records) observed.keys.emplace_back(record->key());
    if (operation.kind == Operation::Kind::scan_and_insert) {
      NodeChanges changes;
      observed.found = !user.insert(operation.own, &changes);
      if (!observed.found) set.apply(changes);
    }
    observed.began = Interleaver::current()->now();
    observed.exact = std::none_of(records.begin(), records.end(), is_obsolete);
    observed.counts = set.valid();
  }

  // Applies the operation to the model; false if its answer does not fit.
  static bool apply(const Observed& observed, Keys& keys) {
    if (!observed.counts) return true;
    const Operation& operation = observed.operation;
    bool there = keys.contains(operation.key);
    switch (operation.kind) {
      case Operation::Kind::insert:
      case Operation::Kind::append:
        keys.insert(operation.key);
        return there == observed.found;
      case Operation::Kind::remove:
        keys.erase(operation.key);
        return there == observed.found;
      case Operation::Kind::merge:
        return true;
      case Operation::Kind::get:
      case Operation::Kind::guarded_get:
        return there == observed.found;
      default: {
        std::vector<std::string> there_now(keys.lower_bound(operation.key),
                                           keys.upper_bound(operation.last));
        bool is_own_new = operation.kind == Operation::Kind::scan_and_insert && !observed.found;
        if (is_own_new) std::erase(there_now, operation.own);
        return observed.exact ? there_now == observed.keys
                              : std::includes(observed.keys.begin(), observed.keys.end(),
                                              there_now.begin(), there_now.end());
      }
    }
  }

  // Whether the operations not yet taken (next[i] of thread i) can follow `keys` and lead to
  // `final`.
  bool explained(const Keys& keys, std::vector<size_t> next, const Keys& final) const {
    bool all_taken = true;
    uint64_t earliest_end = UINT64_MAX;
    for (size_t i = 0; i < observed_.size(); ++i) {
      if (next[i] == observed_[i].size()) continue;
      all_taken = false;
      earliest_end = std::min(earliest_end, observed_[i][next[i]].ended);
    }
    if (all_taken) return keys == final;
    for (size_t i = 0; i < observed_.size(); ++i) {
      if (next[i] == observed_[i].size()) continue;
      const Observed& candidate = observed_[i][next[i]];
      if (candidate.began > earliest_end) continue;  // another one had ended before it began
      Keys after = keys;
      if (!apply(candidate, after)) continue;
      std::vector<size_t> taken = next;
      ++taken[i];
      if (explained(after, taken, final)) return true;
    }
    return false;
  }

  std::string describe() const {
    std::string text;
    for (size_t i = 0; i < observed_.size(); ++i) {
      for (const Observed& observed : observed_[i]) {
        text += " thread " + std::to_string(i) + " kind " +
                std::to_string(static_cast<int>(observed.operation.kind)) +
                (observed.counts ? "" : " (void)") + (observed.found ? " found" : "") + " keys " +
                std::to_string(observed.keys.size()) + ";";
      }
    }
    return text;
  }

  const Scenario& scenario_;
  Reclaimer reclaimer_;
  std::unique_ptr<IndexTree> tree_ = std::make_unique<IndexTree>(RelationId(1));
  std::vector<std::unique_ptr<TreeUser>> users_;
  std::vector<std::unique_ptr<TreeAppender>> appenders_;
  std::vector<std::vector<Observed>> observed_;
  Keys initial_;
};

}  // namespace pgsilo
