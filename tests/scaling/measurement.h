// Runs a kind of transaction on so many workers and counts, by line: how many lines that others
// touch, too, it writes, and how many come from other cores. Thread safety: one thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/scaling/code_places.h"
#include "tests/scaling/lock_step.h"
#include "tests/scaling/simulated_core.h"
#include "tests/scaling/workload.h"

namespace pgsilo::scaling {

// For each transaction, on the average.
struct LineCounts {
  double written = 0;
  double transfers = 0;
  double locked = 0;  // instructions
};

// One part of a workload with one number of workers.
struct Counts {
  std::string part;
  unsigned workers = 0;
  double locked = 0;                        // instructions
  std::map<std::string, LineCounts> lines;  // by name
  // By name, place and instruction, those of nobody else's lines as well: for reports.
  std::map<std::string, LineCounts> uses;
};

class Measurement {
 public:
  // Behind the workers' cores those of the clock and of who makes the engine.
  explicit Measurement(unsigned most_workers)
      : cores_(most_workers + 2), clock_(most_workers), maker_(most_workers + 1) {}

  void run(const WorkloadKind& kind, unsigned workers);
  // Of all that has run. False: no source lines can be told.
  bool finish(std::vector<Counts>* counts);

 private:
  // What a line was used for, while its objects are there.
  struct Use {
    std::string name;  // memory_name()
    Site allocation;
    Site code;
    UseCounts counts;
    bool is_shared;
  };
  struct RawCounts {
    std::string part;
    unsigned workers;
    double transactions;
    uint64_t locked;
    std::vector<Use> uses;
  };
  void step(Workload& workload, CountedUses* counted);
  void round(Workload& workload, unsigned workers, std::vector<CountedUses>* counted);
  void keep(const CountedUses& counted, RawCounts raw);
  static Counts explained(const RawCounts& raw, const CodePlaces& places);

  // To the end: what another core has freed would be on this one's lines in the next.
  std::vector<std::unique_ptr<Workload>> workloads_;
  LockStep cores_;
  const unsigned clock_;
  const unsigned maker_;
  std::vector<RawCounts> raw_;
};

}  // namespace pgsilo::scaling
