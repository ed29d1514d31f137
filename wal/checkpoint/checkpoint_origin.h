// Who wrote a checkpoint's file, as the first block or footer in it says: before it is removed. Not
// checked by checksums: a torn block says it, too, and nobody can make up an incarnation's id.
// Thread safety: plain functions and values.
#pragma once

#include <cstdint>
#include <string>

#include "wal/layout/checkpoint_format.h"

namespace pgsilo {

class FileSystem;
struct CheckpointFile;
struct ControlFile;

struct CheckpointOrigin {
  enum class Kind : uint8_t {
    told,
    blank,       // no block begins in it: no recovery can take anything of it
    missing,     // there is no such file any more
    unreadable,  // nobody knows
  };
  Kind kind = Kind::unreadable;
  CheckpointFileIdentity identity;  // if told
};
// Throws std::bad_alloc.
CheckpointOrigin origin_of_checkpoint_file(FileSystem& files, const std::string& path,
                                           const Uuid& database);

enum class Removable : uint8_t { yes, no, unknown };
// Whether it may go, as one that `control` does not name, or not any more: it is this copy's of the
// database, or nobody's. `directory` as configured. Throws std::bad_alloc.
Removable is_removable(FileSystem& files, const std::string& data_directory,
                       const std::string& directory, const std::string& name,
                       const ControlFile& control);

}  // namespace pgsilo
