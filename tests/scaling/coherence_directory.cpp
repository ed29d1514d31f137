#include "tests/scaling/coherence_directory.h"

#include <utility>

namespace pgsilo::scaling {

// Where the line is, or the free place where it would be.
size_t CoherenceDirectory::place_of(uintptr_t line) const {
  size_t place = (line * 0x9e3779b97f4a7c15u) >> 20;
  for (;; ++place) {
    place &= lines_.size() - 1;
    if (lines_[place].number == line || lines_[place].number == 0) return place;
  }
}

CoherenceDirectory::Line& CoherenceDirectory::find(uintptr_t line) {
  Line* found = &lines_[place_of(line)];
  if (found->number == line) return *found;
  if (2 * ++count_ > lines_.size()) {
    grow();
    found = &lines_[place_of(line)];
  }
  found->number = line;
  return *found;
}

void CoherenceDirectory::grow() {
  std::vector<Line> old(2 * lines_.size());
  old.swap(lines_);
  for (const Line& line : old) {
    if (line.number != 0) lines_[place_of(line.number)] = line;
  }
}

bool CoherenceDirectory::read(unsigned core, uintptr_t line) {
  Line& found = find(line);
  const uint64_t mine = uint64_t{1} << core;
  found.touched |= mine;
  const bool had_it = (found.held & mine) != 0;
  found.held |= mine;
  return !had_it && found.writer != nobody && found.writer != core;
}

bool CoherenceDirectory::write(unsigned core, uintptr_t line) {
  Line& found = find(line);
  const uint64_t mine = uint64_t{1} << core;
  found.touched |= mine;
  found.writer = static_cast<uint8_t>(core);
  return (std::exchange(found.held, mine) & ~mine) != 0;
}

void CoherenceDirectory::settle() {
  for (Line& line : lines_) {
    line.held = 0;
    line.writer = nobody;
  }
}

void CoherenceDirectory::clear() {
  lines_.assign(size_t{1} << first_bits, Line());
  count_ = 0;
}

}  // namespace pgsilo::scaling
