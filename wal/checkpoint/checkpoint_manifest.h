// What the control file says of the checkpoint that counts: its files, the epochs it covers, and
// where in the logs a recovery begins with it. There is at most one. Thread safety: values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "storage/epoch/epoch.h"

namespace pgsilo {

class CheckedReader;
class CheckedWriter;

// Its name follows from the checkpoint's number and its place in the list.
struct CheckpointFile {
  std::string directory;  // as configured; a relative one lies in the data directory
  uint64_t footer_offset = 0;
  uint64_t footer_bytes = 0;
  uint64_t bytes = 0;
};

// The first segment of a log that recovery reads, and the number of its first block.
struct LogCut {
  Uuid log;
  uint64_t segment = 0;
  uint64_t block = 0;
};

struct CheckpointManifest {
  uint64_t number = 0;       // 0: there is no checkpoint; no other one that ever counted has it
  uint64_t incarnation = 0;  // that made it: everything older is in it whole
  Uuid incarnation_id;       // its id; null: of a format that had none
  Epoch begun;               // e_l: what was committed before is in the files
  Epoch ended;               // e_h: what the walk left out has an epoch up to this
  Epoch recorded;            // D that the logs' trailers prove; nothing follows it up to `ended`
  uint64_t unix_time_us = 0;
  uint32_t relation_id_floor = 0;
  uint64_t records = 0;
  std::vector<LogCut> cuts;  // of the incarnation's logs, by logger
  std::vector<CheckpointFile> files;

  bool exists() const { return number != 0; }
  uint64_t bytes() const;
};

void write_manifest(CheckedWriter& to, const CheckpointManifest& manifest);
CheckpointManifest read_manifest(CheckedReader& from);

}  // namespace pgsilo
