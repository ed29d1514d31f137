// Whether the devices of the log and the checkpoints will have room for what these may grow to: the
// log up to max_wal_size, and a checkpoint beside the one that counts. Long before a writer is
// refused the server's log says that they will not.
// Thread safety: look(): one thread at a time. is_low(): any.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

namespace pgsilo {

struct CheckpointParts;

class SpaceWatch {
 public:
  // `log_bytes`: what all logs together may grow to.
  SpaceWatch(const CheckpointParts& parts, uint64_t log_bytes)
      : parts_(parts), log_bytes_(log_bytes) {}

  // `checkpoint_bytes`: of the next one, about. Warns when a device has become too small, once
  // until it is not any more. Throws std::bad_alloc, and then has said nothing.
  void look(uint64_t checkpoint_bytes);
  bool is_low() const { return low_.load(std::memory_order_relaxed); }

 private:
  struct Device {
    std::string directory;  // one that lies on it
    uint64_t free = 0;
    uint64_t wanted = 0;  // of what is free
  };
  // Where it cannot be told, nothing is counted.
  void add(std::map<uint64_t, Device>& devices, const std::string& directory,
           uint64_t wanted) const;

  const CheckpointParts& parts_;
  const uint64_t log_bytes_;
  std::atomic<bool> low_{false};
};

}  // namespace pgsilo
