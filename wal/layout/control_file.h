// The database's control file: which database this is, which incarnations wrote its logs, where,
// and how far each counts (docs/log_format.md). An incarnation is one start of the server.
// It is entered durably, with the identities of its log directories, before it writes anything; the
// next start enters how much of it became durable, before it writes anything itself.
//
// What a database needs of who opens it is told in feature bits, as in ext4: who does not know a
// compatible one may write, and drops what belongs to it; a read-only compatible one, only look; an
// incompatible one, neither. Thread safety: values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "storage/epoch/epoch.h"
#include "wal/layout/checkpoint_manifest.h"
#include "wal/layout/log_format.h"

namespace pgsilo {

class FileSystem;
struct FileResult;

struct LogIdentity {
  Uuid log;
  std::string path;  // as configured when it was named; for messages
};

// A state of the database: what an incarnation and those that it rests on had committed up to an
// epoch.
struct HistoryPoint {
  Uuid incarnation;  // null: none, or of a format that had no ids
  Epoch durable;

  bool operator==(const HistoryPoint&) const = default;
};

struct Incarnation {
  uint64_t number = 0;
  // Random: two copies of a database that go on apart give the same number to two incarnations.
  // Null: of a format that had no ids.
  Uuid id;
  HistoryPoint parent;            // what it began with
  uint64_t segment_bytes = 0;     // of its segments; 0: of a format that did not tell
  Epoch first_epoch;              // its commits' epochs are at or above
  bool closed = false;            // `durable` is final
  bool clean = false;             // closed by a clean shutdown
  Epoch durable;                  // if closed: its records above do not count
  std::vector<LogIdentity> logs;  // by logger
};

// As its blocks are marked.
IncarnationName name_of(const Incarnation& incarnation);

// A start whose checkpoints' files are this copy's of the database, which may remove them.
struct OwnStart {
  Uuid id;  // null: all those of formats that had no ids
  // It was the server's of which this is a backup: of its files only those are this copy's that lie
  // in the data directory, as all of a copy do.
  bool copied = false;

  bool operator==(const OwnStart&) const = default;
};

struct FeatureBits {
  uint64_t compatible = 0;
  uint64_t read_only_compatible = 0;
  uint64_t incompatible = 0;
};

struct ControlFile {
  Uuid database;
  uint64_t last_incarnation = 0;          // numbers are never used again
  std::vector<Incarnation> incarnations;  // ascending; all that may have records in some log
  CheckpointManifest checkpoint;          // the one that counts, if there is one
  // The newest ones, ascending, whether or not `incarnations` still has them. Empty: of a version
  // that did not tell.
  std::vector<OwnStart> own_starts;
  // Of the file that was read: its format, what of it is not known here, and who wrote it.
  uint32_t version = 0;
  FeatureBits unknown;
  std::string writer;

  bool all_closed() const {
    return std::all_of(incarnations.begin(), incarnations.end(),
                       [](const Incarnation& each) { return each.closed; });
  }
};

// Whether a recovery needs anything that the incarnation logged: not what the checkpoint holds.
bool needs_log(const ControlFile& control, const Incarnation& incarnation);
// Whether blocks of it may be met in what a recovery reads.
bool may_be_met(const ControlFile& control, const Incarnation& incarnation);
// What a start that recovered this goes on from. Every incarnation is closed. `forgotten`: the
// newest state of those before; null: the checkpoint's tells.
HistoryPoint newest_state(const ControlFile& control, const HistoryPoint& forgotten);

// So many are remembered, those apart whose files the checkpoint names: what an older one has left
// could not be removed in all starts since.
inline constexpr size_t most_own_starts = 256;
// Whether some of them may have been forgotten; an earlier version remembered 64. Else each number
// that is not listed is of a start that died before it was named.
bool may_have_forgotten_starts(const ControlFile& control);
void add_own_start(ControlFile& control, const OwnStart& start);
// Where a version has written it that did not tell: those that it knows.
void find_own_starts(ControlFile& control);

inline constexpr char control_file_name[] = "pgsilo.control";
inline constexpr char lock_file_name[] = "pgsilo.lock";

enum class ControlRead : uint8_t {
  ok,  // to be written only if no read-only compatible bit is unknown
  missing,
  unreadable,
  damaged,
  other_version,  // or with an incompatible bit that is not known
};
// `*failure`, if not null: why it is unreadable.
ControlRead read_control_file(FileSystem& files, const std::string& directory, ControlFile* control,
                              FileResult* failure = nullptr);
// The file's bytes, and what they say.
std::string encode_control(const ControlFile& control);
ControlRead decode_control(std::string_view bytes, ControlFile* control);
// Atomically and durably. `*replaced`, if not null: whether the new one is there, be it durably or
// not; a failure behind that point leaves open which one a restart will find.
FileResult write_control_file(FileSystem& files, const std::string& directory,
                              const ControlFile& control, bool* replaced = nullptr);

}  // namespace pgsilo
