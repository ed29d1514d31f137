// Finds the blocks of a checkpoint's file whose footer is lost: each says what it is and whether it
// is whole. Thread safety: a function; any thread.
#pragma once

#include "wal/recovery/lost_blocks.h"
#include "wal/recovery/opened_checkpoint.h"

namespace pgsilo {

// `opened` knows identity and path, and gets a footer of what is there. `lost`: of what is not; no
// blocks: nothing is missing. False: the search cannot help: blocks of the catalog may be among
// those that are missing, or nobody knows which of the blocks count. Throws std::bad_alloc.
bool search_blocks(FileSystem& files, const CheckpointFile& file, OpenedCheckpointFile* opened,
                   LostBlock* lost);

}  // namespace pgsilo
