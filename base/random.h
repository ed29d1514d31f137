// Random numbers: a seeded generator for tests and jitter, and identities from the operating
// system. Thread safety: Random: one owner. Uuid: a value.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>

namespace pgsilo {

// xoshiro256** (Blackman, Vigna 2018), seeded by splitmix64: the same seed gives the same numbers
// on every machine.
class Random {
 public:
  explicit Random(uint64_t seed);

  uint64_t next();
  // Uniform in [0, bound); bound > 0.
  uint64_t below(uint64_t bound);
  // True once in `n` times on average.
  bool one_in(uint64_t n) { return below(n) == 0; }

 private:
  std::array<uint64_t, 4> state_;
};

// 128 bits that nobody else has.
struct Uuid {
  uint64_t high = 0;
  uint64_t low = 0;
  friend constexpr auto operator<=>(const Uuid&, const Uuid&) = default;
  // Random (version 4), from the operating system.
  static Uuid generate();
  // "8-4-4-4-12" in hexadecimal.
  std::string text() const;
};

}  // namespace pgsilo
