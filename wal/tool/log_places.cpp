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

std::string last_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace

std::vector<std::string> find_log_directories(FileSystem& files, const std::string& data_directory,
                                              const ControlFile& control,
                                              const std::vector<std::string>& named) {
  std::vector<std::string> found;
  std::vector<Uuid> known;
  for (const std::string& name : named) {
    found.push_back(join_path(data_directory, name));
    LogDirectory directory(files, found.back());
    std::string why;
    if (directory.read_identity(&why) && directory.has_identity()) known.push_back(directory.log());
  }
  for (const Incarnation& incarnation : control.incarnations) {
    for (const LogIdentity& log : incarnation.logs) {
      if (std::find(known.begin(), known.end(), log.log) != known.end()) continue;
      known.push_back(log.log);
      for (const std::string& path : {join_path(data_directory, last_name(log.path)), log.path}) {
        bool taken = std::find(found.begin(), found.end(), path) != found.end();
        if (taken || !may_hold(files, path, log.log)) continue;
        found.push_back(path);
        break;
      }
    }
  }
  if (found.empty()) {
    for (const std::string& name : WalOptions().log_directories)
      found.push_back(join_path(data_directory, name));
  }
  return found;
}

}  // namespace pgsilo
