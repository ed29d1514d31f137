// Sixteen bytes at a time of memory that others may be writing meanwhile: for readers and writers
// under a seqlock (ordered_load.h), who find out afterwards whether what they read fits together.
// The compiler sees an instruction that reads or writes this memory, not what it does, so there is
// no access that it could repeat, split or take for one of a race: what the language asks atomics
// for, and a machine's vector moves do all the same. Each of the two 64-bit halves is moved as a
// whole, if aligned.
//
// Only where PGSILO_RACING_VECTORS is defined. Elsewhere, and in builds that look at each access
// (sanitizers, the interleaving explorer, the count of shared writes), relaxed atomics of 64 bits
// do it.
#pragma once

#include "base/sanitizers.h"

#if defined(__SSE4_1__) && !defined(PGSILO_TSAN) && !defined(PGSILO_ASAN) && \
    !defined(PGSILO_EXPLORES_ATOMICS) && !defined(PGSILO_COUNTS_ACCESSES)
#define PGSILO_RACING_VECTORS 1

#include <immintrin.h>

#include <cstddef>

namespace pgsilo {

inline __m128i load_racing_vector(const void* from) {
  __m128i vector;
  asm volatile("movdqu %1, %0" : "=x"(vector) : "m"(*static_cast<const char(*)[16]>(from)));
  return vector;
}

inline void store_racing_vector(void* to, __m128i vector) {
  asm volatile("movdqu %1, %0" : "=m"(*static_cast<char(*)[16]>(to)) : "x"(vector));
}

}  // namespace pgsilo

#endif
