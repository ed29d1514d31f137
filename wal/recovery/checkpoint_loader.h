// Recovery's first part where there is a checkpoint: its rows into trees, on all threads. Blocks
// hold contiguous keys of one relation, and a thread takes some that follow each other, so that
// most rows go in behind the one before. Thread safety: one call at a time; uses `threads` threads
// inside. Nobody else uses the relations meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wal/recovery/opened_checkpoint.h"

namespace pgsilo {

class FileSystem;
class Reclaimer;
class RecoveryMeter;
class RelationDirectory;
class RestoredRelations;

// Loads what `restored` contains; adds its rows to `records`. With `lost`, if not null, blocks of
// users' relations that are damaged are left out. False: `why`; a block is damaged or memory ran
// out.
bool load_checkpoint(FileSystem& files, const std::vector<OpenedCheckpointFile>& opened,
                     const RestoredRelations& restored, unsigned threads,
                     RelationDirectory& relations, Reclaimer& reclaimer, RecoveryMeter& meter,
                     uint64_t* records, std::vector<LostBlock>* lost, std::string* why);

}  // namespace pgsilo
