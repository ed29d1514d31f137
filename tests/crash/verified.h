// pgsilo-verify over a database on a simulated disk. Thread safety: none.
#pragma once

#include <string>
#include <vector>

#include "base/file_simulated.h"
#include "wal/tool/verify.h"

namespace pgsilo {

struct Verified {
  Verdict verdict = Verdict::unreadable;
  std::string why;
  std::string text;  // the report
};

// Verifies /data; fails the test if that changes any file in it, in `logs` or in
// `checkpoints`, which are named as in the settings, or if it asks for a change of any other.
Verified verify(SimulatedFileSystem& disk, const std::vector<std::string>& logs,
                const std::vector<std::string>& checkpoints = {"checkpoint"},
                const LiveRelationsIn& live = {});

}  // namespace pgsilo
