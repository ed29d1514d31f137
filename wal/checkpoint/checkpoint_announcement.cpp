#include "wal/checkpoint/checkpoint_announcement.h"

#include <array>
#include <cstdio>

#include "base/server_log.h"

namespace pgsilo {
namespace {

const char* flags_of(CheckpointReason reason) {
  switch (reason) {
    case CheckpointReason::time:
      return "time";
    case CheckpointReason::log_volume:
      return "wal";
    case CheckpointReason::request:
      return "immediate force wait";
    case CheckpointReason::damage:
      return "immediate force damage";
    case CheckpointReason::shutdown:
      return "shutdown immediate";
    case CheckpointReason::recovery:
      return "end-of-recovery immediate";
  }
  return "";
}

double seconds(int64_t us) { return static_cast<double>(us) / 1e6; }

unsigned long long kilobytes(uint64_t bytes) { return bytes >> 10; }

}  // namespace

void announce_checkpoint(CheckpointReason reason) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "checkpoint starting: %s", flags_of(reason));
  write_server_log(LogLevel::log, text.data());
}

void announce_end(const CheckpointInfo& checkpoint) {
  std::array<char, 512> text;
  std::snprintf(text.data(), text.size(),
                "checkpoint complete: wrote %llu rows (%llu kB); %llu kB of WAL retired; "
                "write=%.3f s, sync=%.3f s, total=%.3f s; distance=%llu kB",
                static_cast<unsigned long long>(checkpoint.records), kilobytes(checkpoint.bytes),
                kilobytes(checkpoint.retired_log_bytes),
                seconds(checkpoint.us(CheckpointPhase::walking)),
                seconds(checkpoint.us(CheckpointPhase::finishing)), seconds(checkpoint.total_us),
                kilobytes(checkpoint.log_bytes));
  write_server_log(LogLevel::log, text.data());
}

}  // namespace pgsilo
