#include "base/real_path.h"

namespace pgsilo {

bool lies_inside(FileSystem& files, const std::string& directory, const std::string& outer) {
  std::string inner_path = directory;
  std::string outer_path = outer;
  // Without links a path is what it says.
  auto* paths = dynamic_cast<RealPaths*>(&files);
  if (paths != nullptr && (!paths->real_path(directory, &inner_path).ok() ||
                           !paths->real_path(outer, &outer_path).ok())) {
    return false;
  }
  if (outer_path.back() != '/') outer_path += '/';
  inner_path += '/';
  return inner_path.starts_with(outer_path) && inner_path.find("/../") == std::string::npos;
}

}  // namespace pgsilo
