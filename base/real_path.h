// Where directories really are, which their names do not tell behind symbolic links. Thread safety:
// any thread.
#pragma once

#include <string>

#include "base/file.h"

namespace pgsilo {

// A file system that has links says by this where they lead.
class RealPaths {
 public:
  virtual ~RealPaths() = default;
  // Of an existing directory, from the root, links followed.
  virtual FileResult real_path(const std::string& directory, std::string* real) = 0;
};

// Whether the directory really lies in the other one, or is it: not where a link leads elsewhere,
// nor where nobody can tell.
bool lies_inside(FileSystem& files, const std::string& directory, const std::string& outer);

}  // namespace pgsilo
