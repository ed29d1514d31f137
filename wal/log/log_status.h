// What views tell of a logger. Thread safety: a value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pgsilo {

// One log directory since the start.
struct LogStatus {
  std::string directory;
  uint64_t live_segments = 0;      // with blocks in them
  uint64_t prepared_segments = 0;  // empty ones at hand
  uint64_t retired_segments = 0;   // that no recovery reads; kept to be used again
  uint64_t records = 0;
  uint64_t record_bytes = 0;   // of these, without what blocks add
  uint64_t writes = 0;         // system calls
  uint64_t bytes_written = 0;  // to segments, padding included
  uint64_t bytes_saved = 0;    // by compression
  uint64_t syncs = 0;          // batches made durable, by a sync or by writes that need none
  int64_t write_us = 0;        // of writes that a sync follows
  int64_t sync_us = 0;         // of syncs and of writes that need none
  double mean_sync_us = 0;     // what a batch waited for the device, and its distribution
  double median_sync_us = 0;
  double p99_sync_us = 0;
  double max_sync_us = 0;
  uint64_t buffer_waits = 0;  // commits that waited for room in the buffers
  // ample, low (the log and the next checkpoint may find no room), preparing, exhausted (writers
  // get 53100).
  std::string_view space;
};

}  // namespace pgsilo
