// The lines about a checkpoint in the server's log, as PostgreSQL words them where the facts are
// the same (the setting `log_checkpoints`). Thread safety: any thread. They need no memory.
#pragma once

#include "wal/checkpoint/checkpoint_history.h"

namespace pgsilo {

void announce_checkpoint(CheckpointReason reason);
// Of one that is complete.
void announce_end(const CheckpointInfo& checkpoint);

}  // namespace pgsilo
