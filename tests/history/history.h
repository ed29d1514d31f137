// What clients of a database did and were told, for the checker beside it (history_checker.h).
//
// A row is a register under a small integer key. Every write stores a version that nobody else ever
// stores, so a read names the write it saw; every write is preceded by a read of what it replaces,
// so the versions of a row form a chain. Absence has no version: an observation of it says only
// that the transaction stood outside of the life of every row it might have seen. A version carries
// one attribute, for what is found by a secondary index.
//
// A transaction's observations count from the moment the client was told of them: those of a
// transaction that is rolled back later too (I10, docs/invariants.md), its writes then not.
//
// A write whose answer does not tell what it replaced (an UPDATE without RETURNING) is noted as a
// change. Its version must be stored with what its writer had read, so that others find that beside
// it (Findings).
// Thread safety: a Recorder belongs to one thread; the rest is plain data.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pgsilo::history {

using Key = int;
using Version = uint64_t;
inline constexpr Version no_version = 0;
inline constexpr int any_attribute = -1;

struct Operation {
  enum class Kind : uint8_t {
    read,     // `version` under `key`
    absent,   // nothing (with that attribute) under the keys `key` to `last`
    present,  // some row (with that attribute) under one of the keys `key` to `last`
    write,    // `version` with that attribute under `key`; no_version: the row was deleted
    change,   // `version` under `key`, in place of what others will find
    attempt,  // the same, or `last` was absent; the answer was lost
    mark,     // a savepoint
    back,     // what was written since the last savepoint was undone; it stays
  };
  Kind kind = Kind::read;
  Key key = 0;
  Key last = 0;
  Version version = no_version;
  int attribute = any_attribute;

  std::string text() const;
};

struct Transaction {
  int thread = 0;
  // It was not yet begun before `begin`, and the client had its last answer at `end`.
  int64_t begin = 0;
  int64_t end = 0;
  bool committed = false;
  std::vector<Operation> operations;
  std::vector<Version> withdrawn;  // of writes that were never answered: nobody may see them

  std::string text() const;
};

using History = std::vector<Transaction>;

struct Row {
  Key key;
  Version version;
  bool operator==(const Row&) const = default;
};

// The histories that a stress test makes: PGSILO_HISTORIES, or 1, from seed PGSILO_HISTORY_SEED, or
// 0, on.
struct Seeds {
  uint64_t first;
  uint64_t end;
};
Seeds seeds_wanted();

// What was found beside versions of what their writers had read.
class Findings {
 public:
  // `reads`: no_version for what was absent.
  void add(Version version, std::vector<Row> reads);
  void add(const Findings& others);
  // Puts before each write the reads that were found beside its version, and writes in place of
  // changes. What does not fit: empty, two tales of one version, or a change that was committed and
  // nobody found.
  std::string complete(History* history) const;

 private:
  std::string complete(Transaction* transaction) const;

  std::map<Version, std::vector<Row>> reads_;
  std::string contradiction_;
};

// The notes of one client thread. A version that was taken and not written is nobody's.
class Recorder {
 public:
  explicit Recorder(int thread) : thread_(thread) {}

  // Before the first word to the database.
  void begin();
  Version new_version() { return (++versions_ << 8) | static_cast<Version>(thread_ + 1); }

  void read(Key key, Version version) { add({Operation::Kind::read, key, key, version}); }
  void absent(Key key, int attribute = any_attribute) {
    add({Operation::Kind::absent, key, key, no_version, attribute});
  }
  void all_absent(Key first, Key last) { add({Operation::Kind::absent, first, last}); }
  void present(Key first, Key last, int attribute = any_attribute) {
    add({Operation::Kind::present, first, last, no_version, attribute});
  }
  // Rows with this attribute under the keys `first` to `last`, and no others.
  using Row = history::Row;
  void scanned(Key first, Key last, int attribute, std::span<const Row> rows);
  void write(Key key, Version version, int attribute) {
    add({Operation::Kind::write, key, key, version, attribute});
  }
  void erase(Key key) { add({Operation::Kind::write, key, key}); }
  void change(Key key, Version version) { add({Operation::Kind::change, key, key, version}); }
  // `row`: what must be there for the change to happen.
  void attempt(Key key, Version version, Key row) {
    add({Operation::Kind::attempt, key, row, version});
  }
  // Beside the version, which somebody wrote, stood what its writer had read.
  void found(Version version, std::vector<Row> reads) { findings_.add(version, std::move(reads)); }

  // After an answer: the notes so far are what the client was told.
  void acknowledge();
  void mark() { add({Operation::Kind::mark}); }
  void back() { add({Operation::Kind::back}); }
  // After the answer that it committed; after the answer, or the decision, that it did not.
  void commit();
  void abort();
  // No answer came: whether it committed will be known by `note`, a version of no row that it left
  // behind. If so, it did all that is noted here.
  void doubt(Version note);
  // After all others: the notes that were found.
  void settle(const std::set<Version>& notes);

  const History& history() const { return history_; }
  const Findings& findings() const { return findings_; }
  size_t committed() const { return committed_; }

 private:
  void add(const Operation& operation) { open_.operations.push_back(operation); }
  static int64_t now();

  const int thread_;
  Version versions_ = 0;
  Transaction open_;
  size_t acknowledged_ = 0;
  size_t committed_ = 0;
  struct Doubtful {
    Transaction transaction;
    size_t acknowledged;
    int64_t lost;  // when it was known that no answer would come
    Version note;
  };
  std::vector<Doubtful> doubtful_;
  History history_;
  Findings findings_;
};

}  // namespace pgsilo::history
