// What a benchmark's command line says about the log and its checkpoints. Thread safety: a value.
#pragma once

#include <string>

#include "bench/arguments.h"
#include "wal/wal.h"

namespace pgsilo {

struct EngineLogOptions {
  explicit EngineLogOptions(Arguments& arguments);
  static constexpr const char* usage =
      "  --log DIRECTORY    with the log in this directory, which must be new\n"
      "  --wal-compression off|lz4 (off)    --checkpoint-compression off|lz4 (off)\n"
      "  --sync-method open_datasync|fdatasync (open_datasync)\n"
      "  --flush-after MS   what nobody waits for becomes durable after this long (40)\n"
      "  --log-buffer MB    of each worker; half full it is written at once (4)\n"
      "  --checkpoints WHEN  volume: when the log has grown by enough (volume); off; continuous: "
      "one\n"
      "                     after the other, unpaced, while transactions run\n"
      "  --max-wal-size MB  what checkpoints keep the log below, as far as they can (1024)\n"
      "  --segment-size MB  of the log's files (8)\n";

  bool logged() const { return !directory.empty(); }

  std::string directory;  // empty: no log
  WalOptions wal;         // all but the workers
  bool continuous_checkpoints;
};

}  // namespace pgsilo
