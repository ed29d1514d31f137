// Rows divided among tapes by bits of a hash, others at each depth, so that what is divided again
// spreads. Thread safety: one operator's.
#pragma once

#include <cstdint>
#include <vector>

#include "executor/spill/row_tape.h"

namespace pgsilo {

class SpillPartitions {
 public:
  // How many can be written at a time within the file's budget and memory_limit; a power of two.
  // The file keeps buffers for that.
  static size_t count_for(SpillFile& file);
  SpillPartitions(SpillFile& file, const TapeColumns& layout, unsigned depth, size_t count);

  // The row's hash, then its values.
  void append(uint64_t hash, const Datum* row) { writers_[number_of(hash)].append(row); }
  // One for each, also of no rows.
  std::vector<Tape> finish();
  // Beyond it a hash has no bits left.
  static constexpr unsigned most_depth = 64 / 5 - 1;

  size_t number_of(uint64_t hash) const {
    return (hash >> (64 - bits_per_depth * (depth_ + 1))) & (writers_.size() - 1);
  }

 private:
  static constexpr unsigned bits_per_depth = 5;
  const unsigned depth_;
  std::vector<TapeWriter> writers_;
};

}  // namespace pgsilo
