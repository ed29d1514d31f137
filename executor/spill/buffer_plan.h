// How many buffers the phases of an operator take at most: the sums of docs/spilling.md, Transfers.
// Thread safety: constants.
#pragma once

#include <cstddef>

namespace pgsilo {

struct BufferPlan {
  static constexpr size_t least_fan = 4;
  static constexpr size_t most_fan = 128;
  static constexpr size_t writes = 2;  // of one file, under way
  static constexpr size_t of_reader = 2;

  // So many tapes into one.
  static constexpr size_t merge(size_t tapes) { return of_reader * tapes + writes + 1; }
  // Among so many tapes, while two others are read.
  static constexpr size_t division(size_t tapes) { return tapes + writes + 2 * of_reader; }
};

// The budget of an operator that memory_limit has refused: what spills then is written in small
// blocks.
inline constexpr size_t refused_spill_budget = size_t{512} << 10;

// As in arenas, little is never asked for: what the least of each phase takes.
inline constexpr size_t free_spill_buffers = BufferPlan::merge(BufferPlan::least_fan);
static_assert(BufferPlan::division(BufferPlan::least_fan) <= free_spill_buffers);

}  // namespace pgsilo
