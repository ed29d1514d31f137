#include "base/checksum.h"

#define XXH_INLINE_ALL  // libpg_query exports xxHash's symbols too; ours are private to this file
#include <xxhash.h>

namespace pgsilo {

uint64_t checksum64(const void* data, size_t bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(data, bytes, seed);
}

}  // namespace pgsilo
