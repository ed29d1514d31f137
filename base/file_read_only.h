// Another file system, of which nothing is changed: what would write, create, rename or remove
// fails with EROFS, as on a file system that is mounted so. For tools that run the server's own
// code over files that must stay as they are. Files that are opened for writing can be read, locked
// and synced; a sync writes what others have left in caches, no byte of its own. Thread safety: the
// other's; it outlives this one.
#pragma once

#include <memory>
#include <string>

#include "base/file_forwarding.h"

namespace pgsilo {

class ReadOnlyFileSystem final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;

  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override;
  FileResult rename(const std::string& from, const std::string& to) override;
  FileResult remove(const std::string& path) override;
  // already_exists if it does.
  FileResult create_directory(const std::string& path) override;
};

}  // namespace pgsilo
