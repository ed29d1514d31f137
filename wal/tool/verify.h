// Whether a server would start on a data directory, and what it would make of it, without a server
// and without a change to any file. The server's own recovery looks, over a file system that
// refuses to write. Thread safety: one call at a time per data directory.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "wal/wal.h"

namespace pgsilo {

struct VerifyOptions {
  std::string data_directory;
  // As in the setting. Logs inside of the data directory are found without.
  std::vector<std::string> log_directories;
  // Where files of a checkpoint are looked for that are not where the control file has them.
  std::vector<std::string> checkpoint_directories = WalOptions().checkpoint_directories;
  unsigned threads = 0;       // 0: one per CPU
  LiveRelationsIn live = {};  // none: all relations are
};

enum class Verdict : uint8_t {
  sound = 0,
  damaged = 1,     // a start would refuse
  unreadable = 2,  // there is no database, it cannot be read, or a server has it
};

// Writes the report to `out` unless that is null. Unless the verdict is sound: `why`; if it is
// damaged, in the words of the start. `listener`, which may be null, is told how far it is.
Verdict verify_data_directory(FileSystem& files, const Clock& clock, const VerifyOptions& options,
                              RecoveryListener* listener, std::FILE* out, std::string* why);

}  // namespace pgsilo
