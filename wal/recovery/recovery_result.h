// What Wal::recover() is told, tells meanwhile and gives.
// Thread safety: values; RecoveryListener: the thread that called recover().
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/strong_id.h"
#include "storage/epoch/epoch.h"
#include "wal/recovery/lost_blocks.h"

namespace pgsilo {

class Reclaimer;
class RelationDirectory;

struct RecoveryProgress {
  uint64_t bytes_done = 0;
  uint64_t bytes_total = 0;
  double bytes_per_second = 0;
  double seconds_left = 0;  // estimated
  double percent() const {
    return bytes_total == 0
               ? 100.0
               : 100.0 * static_cast<double>(bytes_done) / static_cast<double>(bytes_total);
  }
};

class RecoveryListener {
 public:
  // About twice a second, and at the end; on the thread that called recover().
  virtual void on_progress(const RecoveryProgress& progress) = 0;

 protected:
  ~RecoveryListener() = default;
};

struct RecoveryResult {
  Epoch durable_epoch;  // what DurableEpoch starts with
  Epoch first_epoch;    // what EpochManager starts with: above every epoch in any file
  uint64_t records = 0;
  uint64_t entries = 0;
  uint64_t log_bytes = 0;         // replayed
  uint64_t trusted_segments = 0;  // of the log: read only once, as they were replayed
  uint64_t checkpoint = 0;        // its number; 0: there was none
  uint64_t checkpoint_rows = 0;
  uint64_t checkpoint_bytes = 0;
  int64_t analysis_us = 0;
  int64_t load_us = 0;  // of the checkpoint
  int64_t replay_us = 0;
  bool new_database = false;  // nothing was ever committed durably
  bool clean_shutdown = false;
  std::string data_loss;  // what was given up, with one of the settings for it; else empty
  // With skip_damaged_blocks. Indexes of their tables do not agree with them before somebody has
  // seen to that.
  std::vector<LostBlock> lost_blocks;
};

// The user relations that the restored catalog's rows name, ascending. Empty: there is no catalog,
// and all are restored.
using LiveRelations = std::function<std::vector<RelationId>()>;
// The same, of a catalog that was restored into these for that alone.
using LiveRelationsIn = std::function<std::vector<RelationId>(RelationDirectory&, Reclaimer&)>;

}  // namespace pgsilo
