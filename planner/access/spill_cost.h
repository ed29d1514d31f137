// What it costs to write down and read again what work_mem has no room for, as PostgreSQL reckons
// it: by pages of 8 kB, from the rows' number and width. Thread safety: pure functions.
#pragma once

#include <cstddef>

namespace pgsilo {

// Of rows that are sorted, all of them kept.
double sort_spill_cost(double rows, double width, size_t work_mem);
// Of rows that are kept to be read once more.
double kept_spill_cost(double rows, double width, size_t work_mem);

struct SpillCost {
  double startup = 0;
  double run = 0;
  bool spills = false;
};
// Of a hash join whose table takes `rows` of its right side.
SpillCost join_spill_cost(double rows, double width, double left_rows, double left_width,
                          size_t hash_memory);
// Of rows of which a hash table makes `groups`, each with so many states of aggregates.
SpillCost group_spill_cost(double rows, double width, double groups, double states,
                           size_t hash_memory);

}  // namespace pgsilo
