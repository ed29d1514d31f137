// What a recovery finds in the logs and makes of it, for those who want to read it. Thread safety:
// values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "storage/epoch/epoch.h"

namespace pgsilo {

// One incarnation's part of one log.
struct LogReport {
  Uuid log;
  std::string path;      // of its directory
  uint64_t blocks = 0;   // that follow each other from the first one on
  uint64_t bytes = 0;    // of these on disk
  Epoch reaches;         // `complete` of the last trailer in them
  std::string end_path;  // where they end: a segment, or the directory if there is none
  uint64_t end_offset = 0;
  bool gap = false;  // undamaged blocks come behind the end
  // Of those blocks: what counts, and how many records do not, as D does not cover them.
  uint64_t records = 0;
  uint64_t entries = 0;
  uint64_t ignored_records = 0;
};

struct IncarnationReport {
  uint64_t number = 0;
  Epoch first_epoch;
  bool closed = false;  // as the control file has it: its D was known before
  bool clean = false;
  Epoch recorded;  // the largest D that the control file or any block records
  Epoch readable;  // the one that the logs prove
  Epoch durable;   // the one that counts
  std::vector<LogReport> logs;
};

struct CheckpointReport {
  uint64_t number = 0;  // 0: there is none
  Epoch begun;          // what was committed before is in it; the logs are read from there on
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  uint64_t records = 0;  // to be loaded
  // Blocks that are damaged or cannot be read, as a start could leave them out, and how many
  // records they held; and how many there are that it could not.
  uint64_t skippable_blocks = 0;
  uint64_t skippable_records = 0;
  uint64_t fatal_blocks = 0;
  uint64_t searched_files = 0;  // without their lists of blocks, which a start could search for
};

struct RecoveryReport {
  bool new_database = false;  // there is none yet, and nothing else to tell
  Uuid database;
  uint64_t last_incarnation = 0;
  CheckpointReport checkpoint;
  std::vector<IncarnationReport> incarnations;
  uint64_t replay_bytes = 0;
  uint64_t records = 0;  // to be replayed
  uint64_t entries = 0;
  Epoch first_epoch;  // of what would be committed next
};

}  // namespace pgsilo
