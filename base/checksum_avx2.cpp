// checksum64() for processors with AVX2; compiled for them (CMakeLists.txt), so nothing but XXH3's
// static functions may be compiled here.
#include "base/checksum.h"

#if defined(__x86_64__)

#define XXH_INLINE_ALL  // as in checksum.cpp
#include <xxhash.h>

static_assert(XXH_VECTOR == XXH_AVX2);

namespace pgsilo {

uint64_t checksum64_avx2(const void* data, size_t bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(data, bytes, seed);
}

}  // namespace pgsilo

#endif
