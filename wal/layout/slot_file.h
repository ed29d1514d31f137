// The file that says which replication slots keep log (docs/backup.md). It is replaced whole, and
// a change counts once that is durable. Thread safety: values, plain functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "storage/epoch/epoch.h"
#include "wal/layout/checkpoint_manifest.h"

namespace pgsilo {

class FileSystem;
struct FileResult;

inline constexpr char slot_file_name[] = "pgsilo.slots";

struct LogSlot {
  std::string name;
  int32_t owner = 0;      // the process of the session whose temporary slot it is; 0: it is none
  bool reserved = false;  // it keeps log
  bool lost = false;      // ... and did so until that was too much; for good
  Epoch restart;          // what was committed in later epochs is kept, if reserved
  // From which segments on. A log that is not named is kept whole: it came later.
  std::vector<LogCut> cuts;
};

// The first segment of a log that the slot keeps; UINT64_MAX: it keeps none.
uint64_t first_kept(const LogSlot& slot, const Uuid& log);

enum class SlotsRead : uint8_t { ok, unreadable, damaged, other_version };
// Those of a data directory; none if there is no file. `*failure`: why it is unreadable.
SlotsRead read_slots(FileSystem& files, const std::string& directory, const Uuid& database,
                     std::vector<LogSlot>* slots, FileResult* failure);
// Those that are not temporary, atomically and durably.
FileResult write_slots(FileSystem& files, const std::string& directory, const Uuid& database,
                       const std::vector<LogSlot>& slots);

}  // namespace pgsilo
