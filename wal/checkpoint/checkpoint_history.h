// What views and the server's log tell of checkpoints: the one that runs, those before it, and sums
// since the start.
//
// Thread safety: any thread; its own mutex, which is held for a copy. Which calls follow each other
// is the checkpointer's business: begin(), then the rest, then complete() or fail().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "storage/epoch/epoch.h"

namespace pgsilo {

class CheckpointWalk;
class Clock;
struct CheckpointManifest;

// damage: of a file that a recovery would need. recovery: there was too much log for it.
enum class CheckpointReason : uint8_t { time, log_volume, request, damage, shutdown, recovery };

// What it is about (docs/checkpoints.md, States).
enum class CheckpointPhase : uint8_t { settling, walking, finishing, becoming_durable };
inline constexpr size_t checkpoint_phases = 4;

struct CheckpointInfo {
  enum class State : uint8_t { running, complete, failed };

  uint64_t number = 0;
  CheckpointReason reason = CheckpointReason::time;
  State state = State::running;
  CheckpointPhase phase = CheckpointPhase::settling;  // that it is in, or failed in
  int64_t started_unix_us = 0;
  int64_t ended_unix_us = 0;   // 0: it runs
  Epoch begun;                 // e_l
  Epoch ended;                 // e_h; set when it is complete
  uint64_t planned_bytes = 0;  // what rows took in memory when the walk began
  uint64_t walked_bytes = 0;   // of these; rows that change meanwhile are left out
  uint64_t records = 0;        // written
  uint64_t bytes = 0;          // of its files, when it is complete
  std::array<int64_t, checkpoint_phases> phase_us{};  // of those that have ended
  int64_t total_us = 0;                               // when it has ended
  uint64_t log_bytes = 0;          // logged between the beginnings of the one before and this
  uint64_t retired_log_bytes = 0;  // of segments that nobody needs any more, since it is complete
  std::string failure;

  int64_t us(CheckpointPhase which) const { return phase_us[static_cast<size_t>(which)]; }
};

// Sums since the start, over those that are complete.
struct CheckpointStatus {
  uint64_t made = 0;
  uint64_t made_by_time = 0;  // the rest: asked for by somebody or by the log's volume
  uint64_t failed = 0;
  uint64_t bytes = 0;
  int64_t walk_us = 0;
  int64_t sync_us = 0;
};

// Where memory may be what is missing: a text that needs none takes the place of one that does.
void assign_or_out_of_memory(std::string* text, std::string_view value);

class CheckpointHistory {
 public:
  // So many, the running one among them; older ones are forgotten.
  static constexpr size_t remembered = 100;

  explicit CheckpointHistory(const Clock& clock);

  void begin(uint64_t number, CheckpointReason reason);
  // What the walk is going to do, and has done.
  void note(const CheckpointWalk& walk);
  void phase_ended();
  // `manifest` counts now.
  void complete(const CheckpointManifest& manifest, uint64_t log_bytes, uint64_t retired_log_bytes);
  // Needs no memory: without it the reason is told as "out of memory".
  void fail(const char* why);

  CheckpointStatus status() const;
  bool running() const;
  // Since begin() was called once.
  CheckpointInfo last() const;
  // Its failure; as fail() without memory.
  void tell_failure(std::string* why) const;
  // In the order of their numbers.
  std::vector<CheckpointInfo> list() const;

 private:
  void end(CheckpointInfo::State state);  // with mutex_

  const Clock& clock_;
  mutable std::mutex mutex_;
  CheckpointStatus status_;
  std::vector<CheckpointInfo> entries_;  // has room: begin() needs no memory
  int64_t begun_us_ = 0;
  int64_t phase_begun_us_ = 0;
};

}  // namespace pgsilo
