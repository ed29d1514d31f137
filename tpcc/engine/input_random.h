// Random inputs and texts by TPC-C clauses 2.1.6 and 4.3.2. Thread safety: one owner.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/random.h"
#include "tpcc/engine/rows.h"

namespace pgsilo::tpcc {

class InputRandom {
 public:
  explicit InputRandom(uint64_t seed) : random_(seed) {}

  // Uniform in [low, high].
  uint32_t between(uint32_t low, uint32_t high) {
    return low + static_cast<uint32_t>(random_.below(high - low + 1));
  }
  bool percent(uint32_t share) { return random_.below(100) < share; }

  // Non-uniform: customers, items and last names that are asked for more often than others. The
  // constants C are this kit's; the one of last names differs between population and run as clause
  // 2.1.6.1 wants it.
  uint32_t customer(uint32_t customers) { return non_uniform(1023, 1, customers, 259); }
  uint32_t item(uint32_t items) { return non_uniform(8191, 1, items, 7911); }
  uint32_t last_name_to_load() { return non_uniform(255, 0, 999, 157); }
  // Of those that a district of so many customers has.
  uint32_t last_name(uint32_t customers) {
    return non_uniform(255, 0, customers < 1000 ? customers - 1 : 999, 223);
  }

  // Letters and digits, or digits only.
  template <size_t capacity>
  void letters(Text<capacity>& text, uint32_t shortest, uint32_t longest) {
    text.size = static_cast<typename Text<capacity>::Size>(between(shortest, longest));
    fill(text.bytes, text.size, 62);
  }
  void letters(char* to, size_t count) { fill(to, count, 62); }
  void digits(char* to, size_t count) { fill(to, count, 10); }

 private:
  uint32_t non_uniform(uint32_t mask, uint32_t low, uint32_t high, uint32_t constant) {
    return ((between(0, mask) | between(low, high)) + constant) % (high - low + 1) + low;
  }
  void fill(char* to, size_t count, uint32_t characters) {
    constexpr std::string_view all =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (size_t i = 0; i < count; ++i) to[i] = all[random_.below(characters)];
  }

  Random random_;
};

// Clause 4.3.2.3: three syllables for the digits of a number from 0 to 999.
inline Text<16> last_name_of(uint32_t number) {
  constexpr std::array<std::string_view, 10> syllables = {"BAR", "OUGHT", "ABLE",  "PRI",   "PRES",
                                                          "ESE", "ANTI",  "CALLY", "ATION", "EING"};
  Text<16> name{};
  for (uint32_t digit : {number / 100, number / 10 % 10, number % 10}) {
    std::memcpy(name.bytes + name.size, syllables[digit].data(), syllables[digit].size());
    name.size = static_cast<uint8_t>(name.size + syllables[digit].size());
  }
  return name;
}

}  // namespace pgsilo::tpcc
