// Whether a history can be explained by one serial order that keeps real time (strict
// serializability) and holds everything that clients were told: versions read, keys not found,
// ranges, rows in the way of a unique key, by committed transactions and by those rolled back.
//
// What names a version gives edges at once (write-read, write-write, read-write; Adya's graph).
// What tells of absence, or of some row in the way, gives choices: the transaction came before the
// row's insertion or after its deletion; of two lives of a key, one came first. A choice is decided
// when the graph leaves one option. What stays open is searched, earlier ones first; an order in
// which every choice holds is the proof that the history is serializable.
//
// Complete up to the search's limit, which is reported as a violation of its own. Time and space
// are near linear in the history as long as few transactions overlap.
// Thread safety: none. The history outlives the checker.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/history/history.h"
#include "tests/history/serialization_graph.h"
#include "tests/history/transaction_effects.h"

namespace pgsilo::history {

struct Verdict {
  std::string violation;  // empty: there is a serial order
  size_t edges = 0;       // by versions
  size_t choices = 0;     // that real time does not decide
  size_t searched = 0;    // of those, the ones that were not forced
};

class HistoryChecker {
 public:
  explicit HistoryChecker(const History& history) : history_(history), graph_(history) {}
  Verdict check();

 private:
  struct VersionInfo {
    int writer = 0;
    Key key = 0;
    int attribute = any_attribute;
    Version replaced = no_version;
    enum class Fate : uint8_t { visible, intermediate, rolled_back } fate = Fate::visible;
    std::vector<int> readers;
    std::vector<int> overwriters;
    Version next = no_version;  // by the overwriter, unless that deleted the row
  };
  // A row from its insertion to its deletion: its versions, which follow one another.
  struct Life {
    std::vector<const VersionInfo*> versions;
    int inserter() const { return versions.front()->writer; }
    // Negative: it is still there.
    int deleter() const { return end_of(*versions.back()); }
  };
  struct Lives {
    std::vector<Life> by_begin;       // of the inserter
    std::vector<int64_t> latest_end;  // of the deleters up to here
  };
  struct Relation {
    int from;
    int to;
  };
  using Option = std::vector<Relation>;  // all of them hold
  struct Choice {
    int transaction;
    Key key;
    std::string what;
    std::vector<Option> options;  // one of them holds
  };
  static int end_of(const VersionInfo& version) {
    return version.overwriters.empty() ? -1 : version.overwriters.front();
  }

  bool fail(std::string what);
  std::string name(int transaction) const;
  // Each is false after a violation.
  bool collect_versions();
  bool collect_reads();
  bool add_version_edges();
  bool collect_lives();
  bool order_lives();
  bool collect_absences();
  bool collect_presences();
  bool propagate();
  bool search();

  bool add_edge(int from, int to, EdgeKind kind, Key key);
  bool note_read(int reader, const TransactionEffects::Observation& observation);
  bool matches(const VersionInfo& version, int attribute) const {
    return attribute == any_attribute || version.attribute == attribute;
  }
  bool absence(int transaction, Key key, int attribute);
  bool presence(int transaction, const TransactionEffects::Presence& presence);
  // Calls visit(inserter or writer of the run's first version, who ended its last one or negative)
  // for each run of versions of the key that match and may have been current while the transaction
  // ran.
  template <typename Visit>
  void visit_runs(int transaction, Key key, int attribute, Visit visit) const;
  bool add_choice(Choice choice);
  bool holds(const Option& option);
  bool can_hold(const Option& option);
  bool enforce(const Option& option, Key key);
  enum class Decision : uint8_t { open, decided, contradiction };
  Decision decide(Choice& choice);
  std::string explain(const Choice& choice);
  bool try_option(const Choice& choice, size_t* next);

  const History& history_;
  SerializationGraph graph_;
  std::vector<TransactionEffects> effects_;
  std::unordered_map<Version, VersionInfo> versions_;
  std::unordered_map<Key, Lives> lives_;
  std::vector<Choice> choices_;
  Verdict verdict_;
};

}  // namespace pgsilo::history
