#include "tests/scaling/simulated_core.h"

#include <pthread.h>

#include <algorithm>
#include <iterator>

namespace pgsilo::scaling {

namespace {

constexpr size_t most_calls = 256;

struct Core {
  unsigned number = no_core;
  bool busy = false;  // in here already: what the instrument itself does is no access
  uintptr_t stack_begin = 0;
  uintptr_t stack_end = 0;
  size_t depth = 0;
  std::array<uintptr_t, most_calls> calls;
};
thread_local Core core;

void find_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* begin = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &begin, &bytes);
  core.stack_begin = reinterpret_cast<uintptr_t>(begin);
  core.stack_end = core.stack_begin + bytes;
  pthread_attr_destroy(&attributes);
}

Site site_of(void* caller) {
  Site site;
  site.calls[0] = reinterpret_cast<uintptr_t>(caller);
  for (size_t i = 1; i < site.calls.size() && i <= core.depth && core.depth <= most_calls; ++i)
    site.calls[i] = core.calls[core.depth - i];
  return site;
}

// From `address` on, which lies on the line.
void note_line(uintptr_t address, Access access, void* caller) {
  const uintptr_t line = address >> line_bits;
  Watch& seen = watch();
  const bool writes = access != Access::read;
  const bool moved =
      writes ? seen.directory.write(core.number, line) : seen.directory.read(core.number, line);
  if (seen.counted == nullptr) return;
  const bool first = writes && seen.counted->written.insert(line).second;
  if (!first && !moved && access != Access::locked) return;
  UseCounts& counts = seen.counted->lines[{line, site_of(caller)}];
  if (counts.address == 0) counts.address = address;
  counts.writes += first ? 1 : 0;
  counts.transfers += moved ? 1 : 0;
  counts.locked += access == Access::locked ? 1 : 0;
}

}  // namespace

Watch& watch() {
  static Watch only;
  return only;
}

void play_core(unsigned number) {
  if (core.stack_end == 0) find_stack();
  core.number = number;
}

void note_access(const volatile void* address, size_t bytes, Access access, void* caller) {
  if (core.number == no_core || core.busy || bytes == 0) return;
  auto begin = reinterpret_cast<uintptr_t>(address);
  if (begin >= core.stack_begin && begin < core.stack_end) return;
  core.busy = true;
  if (access == Access::locked && watch().counted != nullptr) ++watch().counted->locked;
  for (uintptr_t line = begin >> line_bits; line <= (begin + bytes - 1) >> line_bits; ++line)
    note_line(std::max(begin, line << line_bits), access, caller);
  core.busy = false;
}

void note_fence() {
  if (core.number != no_core && !core.busy && watch().counted != nullptr) ++watch().counted->locked;
}

void note_allocation(void* address, size_t bytes, void* caller) {
  if (core.number == no_core || core.busy || address == nullptr || bytes == 0) return;
  core.busy = true;
  std::map<uintptr_t, Allocation>& all = watch().allocations;
  auto begin = reinterpret_cast<uintptr_t>(address);
  auto old = all.upper_bound(begin);
  if (old != all.begin() && std::prev(old)->first + std::prev(old)->second.bytes > begin) --old;
  while (old != all.end() && old->first < begin + bytes) old = all.erase(old);
  all[begin] = {bytes, site_of(caller)};
  for (uintptr_t line = begin >> line_bits; line <= (begin + bytes - 1) >> line_bits; ++line)
    watch().directory.hand_out(line);
  core.busy = false;
}

void note_call(void* caller) {
  if (core.depth < most_calls) core.calls[core.depth] = reinterpret_cast<uintptr_t>(caller);
  ++core.depth;
}

void note_return() {
  if (core.depth != 0) --core.depth;
}

}  // namespace pgsilo::scaling
