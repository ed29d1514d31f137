#include "bench/engine_log_options.h"

#include <algorithm>

namespace pgsilo {

namespace {
constexpr int64_t never_us = int64_t{10} * 365 * 86'400 * 1'000'000;
enum Checkpoints : uint8_t { volume, off, continuous };
}  // namespace

EngineLogOptions::EngineLogOptions(Arguments& arguments)
    : directory(arguments.text("--log", "")), continuous_checkpoints(false) {
  wal.compress = arguments.choice("--wal-compression", {"off", "lz4"}) == 1;
  wal.compress_checkpoints = arguments.choice("--checkpoint-compression", {"off", "lz4"}) == 1;
  wal.sync_method = arguments.choice("--sync-method", {"open_datasync", "fdatasync"}) == 1
                        ? LogSyncMethod::fdatasync
                        : LogSyncMethod::direct;
  wal.flush_after_us = static_cast<int64_t>(arguments.number("--flush-after", 40)) * 1000;
  wal.buffer_bytes = std::max<uint64_t>(1, arguments.number("--log-buffer", 4)) << 20;
  wal.checkpoints.max_log_bytes = arguments.number("--max-wal-size", 1024) << 20;
  wal.segment_bytes = std::max<uint64_t>(1, arguments.number("--segment-size", 8)) << 20;
  size_t when = arguments.choice("--checkpoints", {"volume", "off", "continuous"});
  continuous_checkpoints = when == continuous;
  if (when != off) return;
  wal.checkpoints.timeout_us = never_us;
  wal.checkpoints.max_log_bytes = UINT64_MAX;
  wal.checkpoint_at_stop = false;
}

}  // namespace pgsilo
