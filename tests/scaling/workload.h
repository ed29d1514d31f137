// The seam between what is measured and who measures: a kind of transaction over an engine of its
// own. Thread safety: one thread at a time, each worker's part on the worker's core (lock_step.h).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace pgsilo::scaling {

// What is counted for itself. Every worker does each part once a round, in this order.
struct Part {
  std::string_view name;         // in docs/scaling.md
  bool begins_an_epoch = false;  // before it the clock makes a step
  bool is_the_step = false;      // the part is that step: nothing of the workers'
};

class Workload {
 public:
  virtual ~Workload() = default;
  virtual std::vector<Part> parts() const = 0;
  // Tables and rows; by the clock's core, which no worker runs on.
  virtual void load() = 0;
  // By the worker's own core.
  virtual void open(unsigned worker) = 0;
  virtual void run(size_t part, unsigned worker) = 0;
  // By the clock's core: the next epoch, and D follows.
  virtual void step() = 0;
  // By the clock's core, once before anything is counted: looks at what statistics and the log look
  // at now and then. Lines that they read are shared.
  virtual void look() = 0;
};

struct WorkloadKind {
  // By a core that does nothing else.
  std::function<std::unique_ptr<Workload>(unsigned workers)> make;
  unsigned rounds = 16;  // that are counted, after as many that are not
};

// All of the program's.
std::vector<WorkloadKind> all_kinds();

std::vector<WorkloadKind> reading_kinds();
std::vector<WorkloadKind> writing_kinds();
std::vector<WorkloadKind> block_kinds();
std::vector<WorkloadKind> logged_kinds();
std::vector<WorkloadKind> tpcc_kinds();

}  // namespace pgsilo::scaling
