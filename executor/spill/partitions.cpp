#include "executor/spill/partitions.h"

namespace pgsilo {

size_t SpillPartitions::count_for(SpillFile& file) {
  return file.begin_division(size_t{1} << bits_per_depth);
}

SpillPartitions::SpillPartitions(SpillFile& file, const TapeColumns& layout, unsigned depth,
                                 size_t count)
    : depth_(depth) {
  writers_.reserve(count);
  for (size_t i = 0; i < count; ++i) writers_.emplace_back(file, layout);
}

std::vector<Tape> SpillPartitions::finish() {
  std::vector<Tape> tapes;
  tapes.reserve(writers_.size());
  for (TapeWriter& writer : writers_) tapes.push_back(writer.finish());
  return tapes;
}

}  // namespace pgsilo
