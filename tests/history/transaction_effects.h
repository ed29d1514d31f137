// One transaction of a history seen from outside: what it observed of others' writes and what it
// left behind. Observations of its own writes are checked here.
// Thread safety: plain data.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/history/history.h"

namespace pgsilo::history {

class TransactionEffects {
 public:
  // The version (or absence) of a key that the transaction found before it wrote the key.
  struct Observation {
    Key key;
    Version version;
  };
  struct Absence {
    Key key;
    int attribute;
  };
  struct Presence {
    Key first;
    Key last;
    int attribute;
    std::vector<Key> except;  // keys it had written itself
  };
  struct Write {
    Version before = no_version;
    Version after = no_version;
    int attribute = any_attribute;
  };

  explicit TransactionEffects(const Transaction& transaction);

  // What no isolation explains: own writes not seen, two different answers for one key.
  const std::string& violation() const { return violation_; }
  const std::map<Key, Version>& observations() const { return observed_; }
  const std::vector<Absence>& absences() const { return absences_; }
  const std::vector<Presence>& presences() const { return presences_; }
  const std::map<Key, Write>& writes() const { return writes_; }
  // Versions that the transaction itself replaced.
  struct Replaced {
    Key key;
    Version version;
  };
  const std::vector<Replaced>& intermediate() const { return intermediate_; }
  // And those that it took back itself.
  const std::vector<Replaced>& undone() const { return undone_; }

 private:
  void observe(Key key, Version version);
  void find_absent(Key key, int attribute);
  void meet(const Operation& operation);
  void write(const Operation& operation);
  void undo();

  std::map<Key, Version> observed_;
  std::vector<Absence> absences_;
  std::vector<Presence> presences_;
  std::map<Key, Write> writes_;
  std::vector<Replaced> intermediate_;
  std::vector<Replaced> undone_;
  struct Mark {
    std::map<Key, Write> writes;
    size_t intermediate;
  };
  std::vector<Mark> marks_;
  std::string violation_;
};

}  // namespace pgsilo::history
