// A histogram of times with a relative error of 1/32, for percentiles. Thread safety: one owner.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace pgsilo {

class LatencyHistogram {
 public:
  void add(int64_t ns) { ++counts_[bucket_of(ns < 0 ? 0 : static_cast<uint64_t>(ns))]; }
  void add(const LatencyHistogram& other) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }
  // The time that so large a share of all stayed below or met; 0 without any.
  double percentile_us(double share) const {
    uint64_t total = 0;
    for (uint64_t count : counts_) total += count;
    double wanted = share * static_cast<double>(total);
    uint64_t seen = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (counts_[i] != 0 && static_cast<double>(seen) >= wanted) return middle_ns(i) / 1000;
    }
    return 0;
  }

 private:
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

  std::array<uint64_t, (64 - fine_bits + 1) * fine> counts_{};
};

}  // namespace pgsilo
