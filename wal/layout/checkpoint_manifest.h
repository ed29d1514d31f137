// What the control file says of the checkpoint that counts: blocks of which files it consists of,
// the epochs it covers, and where in the logs a recovery begins with it. There is at most one.
// Files may be of several generations: of those of an earlier checkpoint it takes the blocks that
// still hold. Every key is in one block that is taken, or in none. Thread safety: values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "storage/epoch/epoch.h"
#include "wal/layout/checkpoint_format.h"

namespace pgsilo {

class CheckedReader;
class CheckedWriter;

// Blocks of a file that follow each other, by their places in its footer.
struct BlockRange {
  uint64_t first = 0;
  uint64_t count = 0;
};

struct CheckpointFile {
  std::string directory;    // as configured; a relative one lies in the data directory
  uint64_t checkpoint = 0;  // under whose number it was written
  uint32_t number = 0;      // among that checkpoint's files
  Uuid incarnation;         // that wrote it; none: a file of version 1
  uint64_t footer_offset = 0;
  uint64_t footer_bytes = 0;
  uint64_t footer_checksum = 0;  // not known of a file of version 1
  uint64_t bytes = 0;
  // Of the whole file; not known of one of version 1.
  uint64_t blocks = 0;
  uint64_t records = 0;
  uint64_t system_blocks = 0;  // of the catalog's relations
  // The blocks that count, ascending. Of a file of version 1, whose range is empty, all.
  std::vector<BlockRange> taken;

  CheckpointFileIdentity identity(const Uuid& database) const {
    return {database, checkpoint, number, incarnation};
  }
  // Where it was written.
  std::string path(const std::string& data_directory, const Uuid& database) const;
};

// The first segment of a log that recovery reads, and the number of its first block.
struct LogCut {
  Uuid log;
  uint64_t segment = 0;
  uint64_t block = 0;
};

// Null: there is none of it.
const LogCut* find_cut(const std::vector<LogCut>& cuts, const Uuid& log);

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
  // Null: the log is read from its first segment on.
  const LogCut* cut_of(const Uuid& log) const { return find_cut(cuts, log); }
  // Whether blocks of the file count, whatever its directory is called.
  bool names(const CheckpointFile& file) const;
  uint64_t bytes() const;
};

void write_manifest(CheckedWriter& to, const CheckpointManifest& manifest);
// Of a control file of the version that the reader has found.
CheckpointManifest read_manifest(CheckedReader& from);

}  // namespace pgsilo
