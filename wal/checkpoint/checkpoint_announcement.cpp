#include "wal/checkpoint/checkpoint_announcement.h"

#include <cstdio>

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
    case CheckpointReason::shutdown:
      return "shutdown immediate";
  }
  return "";
}

double seconds(int64_t us) { return static_cast<double>(us) / 1e6; }

unsigned long long kilobytes(uint64_t bytes) { return bytes >> 10; }

}  // namespace

void announce_checkpoint(CheckpointReason reason) {
  std::fprintf(stderr, "pgsilo: LOG:  checkpoint starting: %s\n", flags_of(reason));
}

void announce_end(const CheckpointInfo& checkpoint) {
  std::fprintf(stderr,
               "pgsilo: LOG:  checkpoint complete: wrote %llu rows (%llu kB); %llu kB of WAL "
               "retired; write=%.3f s, sync=%.3f s, total=%.3f s; distance=%llu kB\n",
               static_cast<unsigned long long>(checkpoint.records), kilobytes(checkpoint.bytes),
               kilobytes(checkpoint.retired_log_bytes),
               seconds(checkpoint.us(CheckpointPhase::walking)),
               seconds(checkpoint.us(CheckpointPhase::finishing)), seconds(checkpoint.total_us),
               kilobytes(checkpoint.log_bytes));
}

}  // namespace pgsilo
