// The checksum of everything on disk: XXH3, 64 bits. Part of the disk formats: never changes under
// a format version. Detects damage, not malice.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pgsilo {

// Different seeds give unrelated checksums of the same bytes.
uint64_t checksum64(const void* data, size_t bytes, uint64_t seed = 0);

// What it is made of: the same numbers, on any processor, and on those with AVX2 three times as
// fast.
uint64_t checksum64_portable(const void* data, size_t bytes, uint64_t seed);
uint64_t checksum64_avx2(const void* data, size_t bytes, uint64_t seed);

}  // namespace pgsilo
