#include "planner/access/spill_cost.h"

#include <algorithm>
#include <cmath>

#include "planner/access/path.h"
#include "sql/limits.h"

namespace pgsilo {

namespace {

constexpr auto page_bytes = static_cast<double>(limits::page_bytes);
constexpr double row_head = 24;
constexpr double hashed_row_head = 32;

double aligned(double bytes) { return 8 * std::ceil(bytes / 8); }

double bytes_of(double rows, double width) { return rows * (aligned(width) + row_head); }

double pages_of(double rows, double width) { return std::ceil(bytes_of(rows, width) / page_bytes); }

double power_of_two(double least) { return std::exp2(std::ceil(std::log2(std::max(1.0, least)))); }

}  // namespace

double sort_spill_cost(double rows, double width, size_t work_mem) {
  auto room = static_cast<double>(work_mem);
  double bytes = bytes_of(rows, width);
  if (bytes <= room) return 0;
  // So many runs are merged at a time: each has a buffer of 32 pages.
  double fan = std::clamp(std::floor(room / (34 * page_bytes)), 6.0, 500.0);
  double runs = bytes / room;
  double passes = runs > fan ? std::ceil(std::log(runs) / std::log(fan)) : 1;
  double page = 0.75 * cost::sequential_page + 0.25 * cost::random_page;
  return 2 * std::ceil(bytes / page_bytes) * passes * page;
}

double kept_spill_cost(double rows, double width, size_t work_mem) {
  if (bytes_of(rows, width) <= static_cast<double>(work_mem)) return 0;
  return pages_of(rows, width) * cost::sequential_page;
}

SpillCost join_spill_cost(double rows, double width, double left_rows, double left_width,
                          size_t hash_memory) {
  double bytes = rows * (hashed_row_head + aligned(width));
  double directory = power_of_two(std::max(rows, 1024.0)) * sizeof(void*);
  if (bytes + directory <= static_cast<double>(hash_memory)) return {};
  double right_pages = pages_of(rows, width) * cost::sequential_page;
  double left_pages = pages_of(left_rows, left_width) * cost::sequential_page;
  return {right_pages, right_pages + 2 * left_pages, true};
}

SpillCost group_spill_cost(double rows, double width, double groups, double states,
                           size_t hash_memory) {
  constexpr double entry_head = 56;
  constexpr double state_bytes = 16;
  double entry = entry_head + aligned(width) + states * state_bytes;
  double tables = std::ceil(groups * entry / static_cast<double>(hash_memory));
  if (tables <= 1) return {};
  constexpr double partitions = 32;
  double depth = std::ceil(std::log(tables) / std::log(partitions));
  // Its blocks lie about more than those of runs.
  double pages = 2 * pages_of(rows, width) * depth;
  double written = pages * cost::random_page;
  double read = pages * cost::sequential_page;
  double again = 2 * depth * rows * cost::row;
  return {written + again, read, true};
}

}  // namespace pgsilo
