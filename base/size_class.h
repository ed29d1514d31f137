// Which sizes small memory (base/small_memory.h) comes in: every 8 bytes up to 256, then sixteen
// between each power of two and the next. So what comes in whole words, as rows do, is not rounded
// up at all, or by at most a sixteenth; jemalloc's classes, four to a power of two, by a quarter.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace pgsilo {

class SizeClass {
 public:
  static constexpr size_t largest_bytes = 2048;
  static constexpr unsigned count = 80;

  // Of 1 to `largest_bytes` bytes.
  static constexpr SizeClass of(size_t bytes) {
    if (bytes <= 256) return SizeClass(static_cast<unsigned>((bytes + 7) / 8 - 1));
    auto doublings = static_cast<unsigned>(std::bit_width((bytes - 1) >> 9));
    size_t above = size_t{256} << doublings;
    return SizeClass(
        static_cast<unsigned>(32 + 16 * doublings + ((bytes - above - 1) >> (4 + doublings))));
  }
  constexpr explicit SizeClass(unsigned index) : index_(static_cast<uint8_t>(index)) {}

  constexpr unsigned index() const { return index_; }
  constexpr size_t bytes() const {
    if (index_ < 32) return (size_t{index_} + 1) * 8;
    unsigned doublings = (index_ - 32U) / 16;
    size_t step = size_t{16} << doublings;
    return (size_t{256} << doublings) + (size_t{index_ - 32U} % 16 + 1) * step;
  }
  constexpr bool operator==(const SizeClass&) const = default;

 private:
  uint8_t index_;
};

}  // namespace pgsilo
