// Which calls of the watched process go wrong, and how: rules in memory that
// the process shares with whoever started it, who may change them while it
// runs. tests/outside/schedule.py is the other side and knows this layout.
//
// Thread safety: all of it any thread. A rule's other fields may be written
// only while it is not armed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace outside {

// Bits of a rule's `kinds`.
enum class CallKind : uint32_t {
  open = 1 << 0,
  read = 1 << 1,
  write = 1 << 2,
  sync = 1 << 3,            // fsync and fdatasync of files
  sync_directory = 1 << 4,  // of directories
  allocate = 1 << 5,
  truncate = 1 << 6,
  rename = 1 << 7,
  unlink = 1 << 8,
  make_directory = 1 << 9,
  remove_directory = 1 << 10,
  link = 1 << 11,
  list = 1 << 12,
  lock = 1 << 13,
  close = 1 << 14,
};
inline constexpr size_t call_kinds = 15;

enum class Action : uint32_t {
  none = 0,
  fail = 1,       // with `error`; a write first transfers `amount` bytes
  shorten = 2,    // reads and writes transfer at most `amount` bytes
  delay = 3,      // `amount` microseconds
  stall = 4,      // until the rule is disarmed
  die = 5,        // before the call does anything
  die_after = 6,  // when it has done its work, before anybody is told
  // A write stops behind `amount` thousandths of its bytes, other calls die
  // before they do anything.
  die_during = 7,
  lie = 8,  // syncs are reported and not done, synchronous writes are ordinary
            // ones
};

struct Rule {
  std::atomic<uint32_t> armed;
  uint32_t kinds;
  Action action;
  int32_t error;
  uint64_t first;  // the rule applies from the first-th call that matches,
                   // counted from 1,
  uint64_t count;  // to so many; 0: to all
  uint64_t amount;
  std::atomic<uint64_t> seen;
  std::atomic<uint64_t> fired;
  std::atomic<uint64_t> waiting;  // calls that stall now
  char pattern[192];              // as of fnmatch(), of the whole path
};
static_assert(sizeof(Rule) == 256);

inline constexpr uint64_t schedule_magic = 0x454c554445484353;
inline constexpr size_t schedule_rules = 16;

struct ScheduleMemory {
  uint64_t magic;
  std::atomic<uint64_t> calls[call_kinds];  // so far, by kind
  Rule rules[schedule_rules];
};
static_assert(sizeof(ScheduleMemory) == 128 + schedule_rules * 256);

// What a call shall do. A stall or a delay has passed when it is told.
struct Verdict {
  Action action = Action::none;
  int error = 0;
  uint64_t amount = 0;
};

// Maps the file; stops the process if that cannot be done.
ScheduleMemory* map_schedule(const char* path);
// Counts the call and finds the rule for it, the first of several. Dies, waits
// and stalls here, so that `die` and `stall` are never told. `memory` may be
// null: no rules.
Verdict judge_call(ScheduleMemory* memory, CallKind kind, const std::string& path);
// As the power or SIGKILL does: no handler runs, nothing is flushed.
[[noreturn]] void die_now();

}  // namespace outside
