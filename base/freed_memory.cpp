#include "base/freed_memory.h"

#include <sys/types.h>

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>

// Of jemalloc; null where something else allocates.
extern "C" int mallctl(const char* name, void* old_value, size_t* old_bytes, void* new_value,
                       size_t new_bytes) __attribute__((weak));
extern "C" int mallctlnametomib(const char* name, size_t* path, size_t* length)
    __attribute__((weak));
extern "C" int mallctlbymib(const size_t* path, size_t length, void* old_value, size_t* old_bytes,
                            void* new_value, size_t new_bytes) __attribute__((weak));

namespace pgsilo {
namespace {

// "arena.<i>.decay" of the arena that long allocations come from.
size_t decay_path[3];
bool knows_arena = false;

template <typename T>
void set_control(const std::string& name, T value) {
  mallctl(name.c_str(), nullptr, nullptr, &value, sizeof value);
}

// Left alone that arena gives its pages back within free(), which takes up to 0.1 s for each
// gigabyte and more; a worker has no time for that.
void let_long_allocations_stay_for_a_moment() {
  void* one = std::malloc(long_allocation_bytes);
  unsigned arena = 0;
  size_t bytes = sizeof arena;
  bool is_known = mallctl("arenas.lookup", &arena, &bytes, &one, sizeof one) == 0;
  std::free(one);
  size_t length = std::size(decay_path);
  if (!is_known || mallctlnametomib("arena.0.decay", decay_path, &length) != 0) return;
  std::string name = "arena." + std::to_string(arena) + ".";
  set_control<size_t>(name + "oversize_threshold", SIZE_MAX);
  set_control<ssize_t>(name + "dirty_decay_ms", 200);
  decay_path[1] = arena;
  knows_arena = true;
}

}  // namespace

// The thread is not asked for in malloc_conf: jemalloc says that there it may end in a deadlock.
void let_freed_memory_go_back() {
  if (mallctl == nullptr) return;
  set_control<size_t>("max_background_threads", 1);
  set_control<bool>("background_thread", true);
  let_long_allocations_stay_for_a_moment();
}

// It looks at the clock, and wakes the thread for much.
void note_long_free() {
  if (knows_arena) mallctlbymib(decay_path, std::size(decay_path), nullptr, nullptr, nullptr, 0);
}

}  // namespace pgsilo
