// Whether a history of lists or registers is strictly serializable, by what Elle infers (Kingsbury,
// Alvaro: Elle, VLDB 2020) and a little more: version orders from the reads, dependencies from the
// versions, cycles among them and real time.
//
// Lists: a key's elements in the order of its longest read; every read must be a beginning of it.
// What was appended for certain and is in no read comes behind all that was read, so a lost append
// is a cycle with real time.
// Registers: a transaction that read one version and wrote another orders the two. Keys are taken
// to be linearizable, as strict serializability makes them: what was touched by somebody who had
// completed comes before what somebody touched who was invoked later.
//
// A transaction without an answer counts once anybody has seen one of its writes, then as a whole,
// and without an end in real time; one that nobody saw may not have happened.
// Not found: what only predicates tell, for the reads of ranges are taken key by key.
// Time and space are linear in the history but for sorting. Thread safety: none.
#pragma once

#include <string>
#include <vector>

#include "tests/anomalies/observed_history.h"

namespace pgsilo::anomalies {

struct Anomaly {
  std::string name;
  std::string text;
};

struct Judgement {
  std::vector<Anomaly> anomalies;
  size_t committed = 0;      // told so
  size_t indeterminate = 0;  // of which seen: as committed
  size_t seen = 0;
  size_t edges = 0;
  bool is_valid() const { return anomalies.empty(); }
};

Judgement check_lists(const ObservedHistory& history);
Judgement check_registers(const ObservedHistory& history);

}  // namespace pgsilo::anomalies
