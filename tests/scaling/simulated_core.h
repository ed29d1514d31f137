// What the hooks tell of an access, and to whom: the core that the running thread plays, if it
// plays one. Thread safety: of all threads that play a core one runs at a time (lock_step.h); who
// plays none is not watched.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "tests/scaling/coherence_directory.h"

namespace pgsilo::scaling {

enum class Access : uint8_t { read, write, locked };

// Where in the program: the instruction and the calls that led to it, innermost first.
struct Site {
  std::array<uintptr_t, 4> calls{};
  friend bool operator==(const Site&, const Site&) = default;
};

struct SiteHash {
  size_t operator()(const Site& site) const {
    size_t hash = 0;
    for (uintptr_t call : site.calls) hash = (hash ^ call) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
  }
};

struct LineUse {
  uintptr_t line;
  Site site;
  friend bool operator==(const LineUse&, const LineUse&) = default;
};

struct LineUseHash {
  size_t operator()(const LineUse& use) const { return SiteHash()(use.site) ^ use.line * 31; }
};

struct UseCounts {
  uintptr_t address = 0;  // the first there
  uint64_t writes = 0;    // transactions that wrote the line, here first
  uint64_t transfers = 0;
  uint64_t locked = 0;
};

// What was done while it was counted.
struct CountedUses {
  void begin_transaction() { written.clear(); }

  std::unordered_map<LineUse, UseCounts, LineUseHash> lines;
  std::unordered_set<uintptr_t> written;  // lines, by the running transaction
  uint64_t locked = 0;                    // instructions, on whatever line
};

// A piece of memory that somebody asked for.
struct Allocation {
  size_t bytes;
  Site site;
};

struct Watch {
  CoherenceDirectory directory;
  CountedUses* counted = nullptr;               // null: nothing is counted just now
  std::map<uintptr_t, Allocation> allocations;  // by address; freed ones until the next there
};
Watch& watch();

// The calling thread is this core from here on; none: what it does is not seen.
constexpr unsigned no_core = most_cores;
void play_core(unsigned core);

// For the hooks. Nothing if the thread plays no core; nor for its own stack.
void note_access(const volatile void* address, size_t bytes, Access access, void* caller);
void note_fence();
void note_allocation(void* address, size_t bytes, void* caller);
void note_call(void* caller);
void note_return();

}  // namespace pgsilo::scaling
