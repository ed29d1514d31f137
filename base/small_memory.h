// Memory for what there are millions of, rows and nodes of trees: up to 2 kB, in size classes finer
// than malloc's, in chunks that stay whole huge pages (docs/small_memory.md). What is longer is
// malloc's, and all of it where a sanitizer looks for uses after the free, or the count of shared
// writes for whose an address is.
// Thread safety: any thread; what one thread allocated another may free.
#pragma once

#include <cstddef>

#include "base/slab_shard.h"

namespace pgsilo {

// Aligned to 8, or to 64 if `bytes` is a multiple of that. Throws std::bad_alloc.
void* allocate_small(size_t bytes);
// `bytes` as it was allocated.
void free_small(void* memory, size_t bytes);

// For who does not know how long it was: frees what was allocated with `bytes`.
using SmallMemoryDeleter = void (*)(void* memory);
SmallMemoryDeleter small_memory_deleter(size_t bytes);

// Of all threads; what a thread keeps at hand (up to some 8 kB of a class) counts as in use.
SlabUsage small_memory_usage();
// For each thread that is to go on when memory runs out and allocates here, as it begins: what a
// thread has of its own must be there.
void begin_small_memory();
// The calling thread will hardly allocate here any more: what it leaves room for is others'.
void leave_small_memory();
// Gives back what the calling thread keeps at hand.
void give_back_small_memory();

}  // namespace pgsilo
