// A histogram of times with a relative error of 1/32, for percentiles. Thread safety: one owner
// adds; of a SharedLatencyHistogram any thread reads.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/counter.h"

namespace pgsilo {

template <typename Count>
class BasicLatencyHistogram {
 public:
  void add(int64_t ns) { raise(counts_[bucket_of(ns < 0 ? 0 : static_cast<uint64_t>(ns))], 1); }
  void add(const BasicLatencyHistogram& other) {
    for (size_t i = 0; i < counts_.size(); ++i) raise(counts_[i], read(other.counts_[i]));
  }
  // The time that so large a share of all stayed below or met; 0 without any.
  double percentile_us(double share) const {
    uint64_t total = 0;
    for (const Count& count : counts_) total += read(count);
    double wanted = share * static_cast<double>(total);
    uint64_t seen = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      uint64_t count = read(counts_[i]);
      seen += count;
      if (count != 0 && static_cast<double>(seen) >= wanted) return middle_ns(i) / 1000;
    }
    return 0;
  }

 private:
  static void raise(uint64_t& count, uint64_t by) { count += by; }
  static void raise(Counter& count, uint64_t by) { count.add(by); }
  static uint64_t read(uint64_t count) { return count; }
  static uint64_t read(const Counter& count) { return static_cast<uint64_t>(count.value()); }

  // Below 32 a bucket for each value; above, 32 between one power of two and the next.
  static constexpr int fine_bits = 5;
  static constexpr uint64_t fine = uint64_t{1} << fine_bits;
  static size_t bucket_of(uint64_t value) {
    if (value < fine) return value;
    int shift = std::bit_width(value) - 1 - fine_bits;
    return static_cast<size_t>(shift) * fine + (value >> shift);
  }
  static double middle_ns(size_t bucket) {
    if (bucket < 2 * fine) return static_cast<double>(bucket);
    size_t shift = bucket / fine - 1;
    return (static_cast<double>(bucket % fine + fine) + 0.5) *
           static_cast<double>(uint64_t{1} << shift);
  }

  std::array<Count, (64 - fine_bits + 1) * fine> counts_{};
};

using LatencyHistogram = BasicLatencyHistogram<uint64_t>;
using SharedLatencyHistogram = BasicLatencyHistogram<Counter>;

}  // namespace pgsilo
