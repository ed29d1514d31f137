#include "wal/checkpoint/space_watch.h"

#include <algorithm>

#include "base/file.h"
#include "base/server_log.h"
#include "wal/checkpoint/checkpoint_run.h"
#include "wal/log/logger.h"

namespace pgsilo {
namespace {

std::string megabytes(uint64_t bytes) { return std::to_string(bytes >> 20) + " MB"; }

}  // namespace

void SpaceWatch::add(std::map<uint64_t, Device>& devices, const std::string& directory,
                     uint64_t wanted) const {
  DeviceSpace space;
  if (!parts_.files.space(directory, &space).ok()) return;
  Device& device = devices[space.device];
  if (device.directory.empty()) device.directory = directory;
  device.free = space.free_bytes;
  device.wanted += wanted;
}

void SpaceWatch::look(uint64_t checkpoint_bytes) {
  std::map<uint64_t, Device> devices;
  for (const CheckpointedLog& log : parts_.logs) {
    const SegmentStore& segments = log.logger->segments();
    uint64_t share = log_bytes_ / parts_.logs.size();
    add(devices, segments.directory(), share - std::min(share, segments.bytes()));
  }
  for (const std::string& directory : parts_.directories) {
    add(devices, join_path(parts_.data_directory, directory),
        checkpoint_bytes / parts_.directories.size());
  }
  auto tight = std::find_if(devices.begin(), devices.end(),
                            [](const auto& each) { return each.second.free < each.second.wanted; });
  bool low = tight != devices.end();
  if (low && !is_low()) {
    const Device& device = tight->second;
    write_server_log(LogLevel::warning,
                     "the device of directory \"" + device.directory + "\" is filling up",
                     "The log and the next checkpoint may need " + megabytes(device.wanted) +
                         ", and " + megabytes(device.free) + " are free.",
                     "Make room there, or lower max_wal_size.");
  }
  low_.store(low, std::memory_order_relaxed);
}

}  // namespace pgsilo
