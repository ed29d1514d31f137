// The database's control file: which database this is, which incarnations wrote its logs, where,
// and how far each counts (durability.md items 1, 3, 6). An incarnation is one start of the server.
// It is entered durably, with the identities of its log directories, before it writes anything; the
// next start enters how much of it became durable, before it writes anything itself. Thread safety:
// values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "storage/epoch/epoch.h"
#include "wal/checkpoint/checkpoint_manifest.h"

namespace pgsilo {

class FileSystem;
struct FileResult;

struct LogIdentity {
  Uuid log;
  std::string path;  // as configured when it was named; for messages
};

struct Incarnation {
  uint64_t number = 0;
  Epoch first_epoch;              // its commits' epochs are at or above
  bool closed = false;            // `durable` is final
  bool clean = false;             // closed by a clean shutdown
  Epoch durable;                  // if closed: its records above do not count
  std::vector<LogIdentity> logs;  // by logger
};

struct ControlFile {
  Uuid database;
  uint64_t last_incarnation = 0;          // numbers are never used again
  std::vector<Incarnation> incarnations;  // ascending; all that may have records in some log
  CheckpointManifest checkpoint;          // the one that counts, if there is one
  uint32_t version = 0;                   // of the file that was read
};

// Whether a recovery needs anything that the incarnation logged: not what the checkpoint holds.
bool needs_log(const ControlFile& control, const Incarnation& incarnation);

inline constexpr char control_file_name[] = "pgsilo.control";
inline constexpr char lock_file_name[] = "pgsilo.lock";

enum class ControlRead : uint8_t { ok, missing, unreadable, damaged, other_version };
// `*failure`, if not null: why it is unreadable.
ControlRead read_control_file(FileSystem& files, const std::string& directory, ControlFile* control,
                              FileResult* failure = nullptr);
// Atomically and durably. `*replaced`, if not null: whether the new one is there, be it durably or
// not; a failure behind that point leaves open which one a restart will find.
FileResult write_control_file(FileSystem& files, const std::string& directory,
                              const ControlFile& control, bool* replaced = nullptr);

}  // namespace pgsilo
