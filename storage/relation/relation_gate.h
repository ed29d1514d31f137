// What of a relation's locks everybody must see who takes none or takes his without a queue: the
// modes that somebody holds or waits for in the queue of the relation's lock. Empty but for LOCK
// TABLE and DDL.
//
// It changes only under the latch of that queue (storage/transaction/relation_lock.cpp). Who takes
// a weak lock without a queue looks at it under his own latch and notes the lock before he lets go
// of that; who wants a strong lock raises it first and then looks at everybody's notes, each under
// its owner's latch. Whichever of the two comes second to that latch sees the other.
//
// Commits hold no lock: each looks at the gates of the relations it writes after it has read its
// epoch. Who keeps writers out raises the gate, then advances E to e and waits until every epoch
// before e is complete. A commit that read an epoch before e has left by then; one that read e or
// later did so after the advance, hence after the raising, and sees the gate (all four are
// seq_cst).
//
// Thread safety: any thread.
#pragma once

#include <atomic>

#include "storage/relation/lock_mode.h"

namespace pgsilo {

class RelationGate {
 public:
  // Somebody holds or waits for what conflicts with `mode`.
  bool stops(LockMode mode) const {
    return modes_.load(std::memory_order_seq_cst).conflicts_with(mode);
  }
  // Under the latch of the lock's queue.
  void set(LockModes modes) { modes_.store(modes, std::memory_order_seq_cst); }

 private:
  std::atomic<LockModes> modes_{};
};

}  // namespace pgsilo
