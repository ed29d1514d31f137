#include "executor/functions/md5.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace pgsilo {
namespace {

constexpr int shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

// The integer part of 2^32 |sin(i + 1)|, as the standard defines its constants.
struct Sines {
  uint32_t values[64];
  Sines() {
    for (int i = 0; i < 64; ++i)
      values[i] = static_cast<uint32_t>(std::floor(std::fabs(std::sin(i + 1.0)) * 0x1p32));
  }
};

void add_block(const char* block, uint32_t* state) {
  static const Sines sines;
  uint32_t words[16];
  std::memcpy(words, block, sizeof words);  // little-endian, as on every machine we build for
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  for (int i = 0; i < 64; ++i) {
    uint32_t mixed;
    int word;
    switch (i / 16) {
      case 0:
        mixed = (b & c) | (~b & d), word = i;
        break;
      case 1:
        mixed = (d & b) | (~d & c), word = (5 * i + 1) % 16;
        break;
      case 2:
        mixed = b ^ c ^ d, word = (3 * i + 5) % 16;
        break;
      default:
        mixed = c ^ (b | ~d), word = (7 * i) % 16;
        break;
    }
    uint32_t rotated = std::rotl(a + mixed + sines.values[i] + words[word], shifts[i / 16][i % 4]);
    a = d;
    d = c;
    c = b;
    b += rotated;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
}

}  // namespace

void md5_hex(std::string_view bytes, char* digits) {
  uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  size_t whole = bytes.size() / 64 * 64;
  for (size_t at = 0; at < whole; at += 64) add_block(bytes.data() + at, state);
  char tail[128] = {};
  size_t rest = bytes.size() - whole;
  if (rest != 0) std::memcpy(tail, bytes.data() + whole, rest);
  tail[rest] = static_cast<char>(0x80);
  size_t tail_bytes = rest + 9 <= 64 ? 64 : 128;
  uint64_t bits = uint64_t{bytes.size()} * 8;
  std::memcpy(tail + tail_bytes - 8, &bits, sizeof bits);
  for (size_t at = 0; at < tail_bytes; at += 64) add_block(tail + at, state);
  const auto* raw = reinterpret_cast<const unsigned char*>(state);
  for (int i = 0; i < 16; ++i) {
    digits[2 * i] = "0123456789abcdef"[raw[i] >> 4];
    digits[2 * i + 1] = "0123456789abcdef"[raw[i] & 15];
  }
}

}  // namespace pgsilo
