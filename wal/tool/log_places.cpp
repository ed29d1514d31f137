#include "wal/tool/log_places.h"

#include <algorithm>

#include "base/file.h"
#include "wal/layout/log_directory.h"
#include "wal/wal.h"

namespace pgsilo {
namespace {

// One whose identity cannot be read is taken, so that whoever opens it says what is wrong with it.
bool may_hold(FileSystem& files, const std::string& path, const Uuid& log) {
  LogDirectory directory(files, path);
  std::string why;
  if (!directory.read_identity(&why)) return true;
  return directory.has_identity() && directory.log() == log;
}

// The name inside of the data directory of a log that the control file has at `path`: where the
// data directory was then is not known, so any end of the path may be it. Empty: it is not there.
std::string name_inside(FileSystem& files, const std::string& data_directory,
                        const LogIdentity& log) {
  for (size_t slash = log.path.find_last_of('/');; slash = log.path.find_last_of('/', slash - 1)) {
    std::string name = slash == std::string::npos ? log.path : log.path.substr(slash + 1);
    if (!name.empty() && may_hold(files, join_path(data_directory, name), log.log)) return name;
    if (slash == std::string::npos || slash == 0) return "";
  }
}

}  // namespace

std::vector<std::string> find_log_directories(FileSystem& files, const std::string& data_directory,
                                              const ControlFile& control,
                                              const std::vector<std::string>& named,
                                              std::vector<LogIdentity>* elsewhere) {
  std::vector<std::string> found = named;
  std::vector<Uuid> known;
  for (const std::string& name : named) {
    LogDirectory directory(files, join_path(data_directory, name));
    std::string why;
    if (directory.read_identity(&why) && directory.has_identity()) known.push_back(directory.log());
  }
  auto is_known = [&](const LogIdentity& log) {
    return std::find(known.begin(), known.end(), log.log) != known.end();
  };
  // Starts may have had it at different paths, and in a copy it lies where the last one did.
  std::vector<LogIdentity> missed;
  for (const Incarnation& incarnation : control.incarnations) {
    for (const LogIdentity& log : incarnation.logs) {
      if (is_known(log)) continue;
      std::string name = name_inside(files, data_directory, log);
      if (name.empty()) {
        missed.push_back(log);
        continue;
      }
      known.push_back(log.log);
      if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
    }
  }
  for (const LogIdentity& log : missed) {
    if (is_known(log)) continue;
    known.push_back(log.log);
    if (elsewhere != nullptr) elsewhere->push_back(log);
  }
  return found.empty() ? WalOptions().log_directories : found;
}

}  // namespace pgsilo
