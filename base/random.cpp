#include "base/random.h"

#include <sys/random.h>

#include <bit>
#include <cstdio>

#include "base/check.h"

namespace pgsilo {

Random::Random(uint64_t seed) {
  for (uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15u;
    uint64_t mixed = seed;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    word = mixed ^ (mixed >> 31);
  }
}

uint64_t Random::next() {
  uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t Random::below(uint64_t bound) {
  PGSILO_DCHECK(bound > 0);
  // The high half of the product (Lemire 2019); its bias is bound / 2^64.
  return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
}

Uuid Uuid::generate() {
  Uuid uuid;
  PGSILO_CHECK(getrandom(&uuid, sizeof uuid, 0) == sizeof uuid);
  uuid.high = (uuid.high & ~uint64_t{0xf000}) | 0x4000;
  uuid.low = (uuid.low & ~(uint64_t{3} << 62)) | (uint64_t{2} << 62);
  return uuid;
}

std::string Uuid::text() const {
  char text[37];
  std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx", static_cast<unsigned>(high >> 32),
                static_cast<unsigned>(high >> 16 & 0xffff), static_cast<unsigned>(high & 0xffff),
                static_cast<unsigned>(low >> 48),
                static_cast<unsigned long long>(low & 0xffffffffffffu));
  return text;
}

}  // namespace pgsilo
