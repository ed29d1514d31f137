// Which state of a backup was there at which time, as the trailers of its logs tell: each says that
// everything up to an epoch was committed when it was closed. So the largest epoch that any log
// told until a moment has all that was acknowledged before it, and nothing that was committed after
// it. In each log these times never go back; where the clock was set back they stand still until
// it has caught up, and what was committed meanwhile counts as of later.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/epoch/epoch.h"

namespace pgsilo {

class SourceLogs;
struct BackupLabel;
struct ControlFile;
struct Incarnation;

class StateTimes {
 public:
  // Of the states from `earliest` on. `logs` are scanned. False: `why`.
  bool read(const SourceLogs& logs, const BackupLabel& label, Epoch earliest, std::string* why);

  // Of the earliest and of the latest state that can be told by its time; microseconds since 1970.
  uint64_t first_us() const { return states_.front().unix_us; }
  uint64_t last_us() const { return states_.back().unix_us; }
  // The state at a moment: the largest epoch of which everything was committed by then. False:
  // `why`; it is before the first or after the last, or its start's log is damaged there.
  bool find(uint64_t unix_us, Epoch* epoch, std::string* why) const;

 private:
  struct State {
    uint64_t unix_us;
    Epoch epoch;
    bool is_last_readable = false;  // of a start that counts further
  };
  void add(const SourceLogs& logs, const ControlFile& control, const Incarnation& incarnation);

  std::vector<State> states_;  // ascending in both
};

}  // namespace pgsilo
