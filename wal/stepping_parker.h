// Waits of a start, and of tests: while the log has no threads nobody writes it or prepares its
// segments, so who waits for room in it does. Thread safety: none, as the Wal's then.
#pragma once

#include "base/parker.h"
#include "wal/wal.h"

namespace pgsilo {

class SteppingParker final : public Parker {
 public:
  // The Wal has been started, and outlives it.
  explicit SteppingParker(Wal& wal) : wal_(wal) {}
  void park(int64_t /*deadline_us*/) override {
    wal_.prepare_segments();
    for (unsigned i = 0; i < wal_.workers(); ++i) wal_.try_step(i);
  }
  void unpark() override {}

 private:
  Wal& wal_;
};

}  // namespace pgsilo
