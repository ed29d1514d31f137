#include "wal/foreign_content.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "wal/backup/backup_label.h"
#include "wal/layout/control_file.h"
#include "wal/wal.h"

namespace pgsilo {
namespace {

// What a first start makes before there is a control file; the server's lock file is among it.
std::vector<std::string> own_names(const WalOptions& options) {
  std::vector<std::string> names = {"postmaster.pid", lock_file_name,
                                    std::string(control_file_name) + ".new"};
  for (const auto* directories : {&options.log_directories, &options.checkpoint_directories}) {
    for (const std::string& path : *directories) names.push_back(path.substr(0, path.find('/')));
  }
  return names;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool check_data_directory(FileSystem& files, const std::string& directory,
                          const WalOptions& options, std::string* why) {
  std::vector<std::string> names;
  FileResult result = files.list(directory, &names);
  if (result.status == FileStatus::not_found) return true;
  if (!result.ok()) {
    *why = "could not read directory \"" + directory + "\": " + result.text();
    return false;
  }
  if (contains(names, "PG_VERSION")) {
    *why = "directory \"" + directory +
           "\" holds a database of PostgreSQL\nHINT:  Load a dump of it into an empty directory.";
    return false;
  }
  // Nothing begins where one only looks.
  if (options.read_only || contains(names, control_file_name) ||
      contains(names, backup_label_name)) {
    return true;
  }
  std::vector<std::string> ours = own_names(options);
  auto foreign = std::find_if(names.begin(), names.end(),
                              [&](const std::string& name) { return !contains(ours, name); });
  if (foreign == names.end()) return true;
  *why = "directory \"" + directory + "\" holds no database and is not empty: it contains \"" +
         *foreign +
         "\"\nHINT:  If you want to create a new database there, remove or empty it; if it is a "
         "mount point, use a directory inside of it.";
  return false;
}

}  // namespace pgsilo
