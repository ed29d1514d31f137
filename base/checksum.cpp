#include "base/checksum.h"

#define XXH_INLINE_ALL  // libpg_query exports xxHash's symbols too; ours are private to this file
#include <xxhash.h>

namespace pgsilo {

uint64_t checksum64_portable(const void* data, size_t bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(data, bytes, seed);
}

uint64_t checksum64(const void* data, size_t bytes, uint64_t seed) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return checksum64_avx2(data, bytes, seed);
#endif
  return checksum64_portable(data, bytes, seed);
}

}  // namespace pgsilo
