// Which core has which line of 64 bytes: the coherence protocol of a machine whose caches have no
// end (MSI), so that every line that moves does so because another core wrote or wants to write it.
// Thread safety: one thread at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pgsilo::scaling {

constexpr unsigned most_cores = 64;
constexpr unsigned line_bits = 6;

class CoherenceDirectory {
 public:
  CoherenceDirectory() : lines_(size_t{1} << first_bits) {}

  // True: it had to be fetched, because another core has changed it since this one had it.
  bool read(unsigned core, uintptr_t line);
  // True: another core had it and loses it.
  bool write(unsigned core, uintptr_t line);
  // More than one core has touched it since it was last handed out, that one aside.
  bool is_shared(uintptr_t line, unsigned but_for) const {
    return std::popcount(lines_[place_of(line)].touched & ~(uint64_t{1} << but_for)) > 1;
  }
  void hand_out(uintptr_t line) { lines_[place_of(line)].touched = 0; }
  // Memory has everything and no cache anything; who has touched what stays known.
  void settle();
  void clear();

 private:
  static constexpr int first_bits = 16;
  static constexpr uint8_t nobody = most_cores;
  struct Line {
    uintptr_t number = 0;     // 0: a free place
    uint64_t held = 0;        // by these cores; after a change by that one alone
    uint64_t touched = 0;     // by these, at any time
    uint8_t writer = nobody;  // the last
  };
  size_t place_of(uintptr_t line) const;
  Line& find(uintptr_t line);
  void grow();

  std::vector<Line> lines_;  // open addressing; a power of two
  size_t count_ = 0;
};

}  // namespace pgsilo::scaling
