// What PostgreSQL answers under READ COMMITTED where nobody waits, kept in expected/SPEC.out: a
// line of steps, then their answers and the state they left.
//
// Ours is more than PostgreSQL's: a statement that waited runs as if it had been sent when it was
// let go, so that it sees one moment. Therefore a run must end as the record of its steps in the
// order in which they were answered.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/isolation/permutation_run.h"
#include "tests/isolation/spec.h"

namespace pgsilo::isolation {

class RecordedOutcomes {
 public:
  explicit RecordedOutcomes(const Spec& spec) : spec_(&spec) {}
  // Throws std::runtime_error if there is no such file.
  void read();
  void write() const;

  // Nobody waited in it.
  void add(const Run& run);
  // Whether nobody waits when the steps come in this order.
  bool has(const Permutation& permutation) const {
    return answers_.contains(spec_->text(permutation));
  }
  // Whether some order of its answers is on record. A deadlock is not: anybody may be the victim.
  bool explain(const Run& run) const;

 private:
  struct Outcome {
    std::string steps;
    std::string answers;
  };
  Outcome outcome(const std::vector<Told>& answers, const std::string& state) const;
  bool explain(const Run& run, size_t round, const std::vector<Told>& before) const;
  std::string path() const;

  const Spec* spec_;
  std::map<std::string, std::string> answers_;  // by steps
};

}  // namespace pgsilo::isolation
