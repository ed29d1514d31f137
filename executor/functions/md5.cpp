#include "executor/functions/md5.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/long_work.h"

namespace pgsilo {
namespace {

// The integer part of 2^32 |sin(i + 1)|, as the standard defines its constants.
struct Sines {
  uint32_t values[64];
  Sines() {
    for (int i = 0; i < 64; ++i)
      values[i] = static_cast<uint32_t>(std::floor(std::fabs(std::sin(i + 1.0)) * 0x1p32));
  }
};

// The four rounds differ in how they mix, in the order of the words and in the shifts; unrolled,
// everything but the mixing is a constant.
template <int round>
uint32_t mix(uint32_t b, uint32_t c, uint32_t d) {
  if constexpr (round == 0) return d ^ (b & (c ^ d));
  if constexpr (round == 1) return c ^ (d & (b ^ c));
  if constexpr (round == 2) return b ^ c ^ d;
  return c ^ (b | ~d);
}
constexpr int shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
constexpr int word_steps[4] = {1, 5, 3, 7};
constexpr int first_words[4] = {0, 1, 5, 0};

template <int round>
void add_round(const uint32_t* words, const uint32_t* sines, uint32_t* state) {
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    int word = (first_words[round] + word_steps[round] * i) % 16;
    uint32_t sum = a + mix<round>(b, c, d) + sines[16 * round + i] + words[word];
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, shifts[round][i % 4]);
  }
  state[0] = a, state[1] = b, state[2] = c, state[3] = d;
}

void add_block(const char* block, const Sines& sines, uint32_t* state) {
  uint32_t words[16];
  std::memcpy(words, block, sizeof words);  // little-endian, as on every machine we build for
  uint32_t mixed[4] = {state[0], state[1], state[2], state[3]};
  add_round<0>(words, sines.values, mixed);
  add_round<1>(words, sines.values, mixed);
  add_round<2>(words, sines.values, mixed);
  add_round<3>(words, sines.values, mixed);
  for (int i = 0; i < 4; ++i) state[i] += mixed[i];
}

}  // namespace

void md5_hex(std::string_view bytes, char* digits) {
  static const Sines sines;
  uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  size_t whole = bytes.size() / 64 * 64;
  WorkMeter meter;
  for (size_t at = 0; at < whole; at += 64) {
    add_block(bytes.data() + at, sines, state);
    meter.did(4 * 64);
  }
  char tail[128] = {};
  size_t rest = bytes.size() - whole;
  if (rest != 0) std::memcpy(tail, bytes.data() + whole, rest);
  tail[rest] = static_cast<char>(0x80);
  size_t tail_bytes = rest + 9 <= 64 ? 64 : 128;
  uint64_t bits = uint64_t{bytes.size()} * 8;
  std::memcpy(tail + tail_bytes - 8, &bits, sizeof bits);
  for (size_t at = 0; at < tail_bytes; at += 64) add_block(tail + at, sines, state);
  const auto* raw = reinterpret_cast<const unsigned char*>(state);
  for (int i = 0; i < 16; ++i) {
    digits[2 * i] = "0123456789abcdef"[raw[i] >> 4];
    digits[2 * i + 1] = "0123456789abcdef"[raw[i] & 15];
  }
}

}  // namespace pgsilo
