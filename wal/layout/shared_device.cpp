#include "wal/layout/shared_device.h"

#include "base/file.h"

namespace pgsilo {

bool lie_together(FileSystem& files, const std::string& one, const std::string& other) {
  DeviceSpace of_one;
  DeviceSpace of_other;
  return !files.space(one, &of_one).ok() || !files.space(other, &of_other).ok() ||
         of_one.device == of_other.device;
}

}  // namespace pgsilo
