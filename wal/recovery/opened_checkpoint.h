// The files of the checkpoint that counts, found and their footers read: what recovery loads, what
// is inspected, what is scrubbed. Thread safety: values; the function from any thread.
#pragma once

#include <string>
#include <vector>

#include "wal/layout/checkpoint_format.h"
#include "wal/layout/checkpoint_manifest.h"
#include "wal/recovery/checkpoint_fault.h"
#include "wal/recovery/lost_blocks.h"

namespace pgsilo {

class FileSystem;

// Its footer was read and found sound, and lists the blocks that count.
struct OpenedCheckpointFile {
  CheckpointFileIdentity identity;
  std::string path;
  CheckpointFooter footer;
};

// A file that is not where the manifest says, or not sound there, is looked for in `directories`,
// those that are configured now. A fault: it is missing, damaged, another's, or of an encoding that
// this program does not know; then `opened` knows its identity and path.
CheckpointFault open_checkpoint_file(FileSystem& files, const std::string& data_directory,
                                     const std::vector<std::string>& directories,
                                     const Uuid& database, const CheckpointFile& file,
                                     OpenedCheckpointFile* opened);
// All files of the manifest. False: `why`, of the first that has a fault. With `lost`, if not null,
// files do without their footers where that leaves out blocks of users' relations at most.
bool open_checkpoint(FileSystem& files, const std::string& data_directory,
                     const std::vector<std::string>& directories, const Uuid& database,
                     const CheckpointManifest& manifest, std::vector<OpenedCheckpointFile>* opened,
                     std::vector<LostBlock>* lost, std::string* why);

}  // namespace pgsilo
