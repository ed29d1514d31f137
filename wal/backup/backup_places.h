// Where in a backup's directory that lies which its label names as the server had it: by a path
// that may lead to the server itself, which has gone on since. Nothing outside of the backup
// counts, be it behind a link. Thread safety: plain functions.
#pragma once

#include <string>
#include <vector>

namespace pgsilo {

struct ControlFile;
class FileSystem;

// Directories in the backup that may be those that are named, the likelier ones first: at an end of
// the name, for where the server had its data is not known, or anywhere. False: `why`.
bool list_inside(FileSystem& files, const std::string& backup,
                 const std::vector<std::string>& named, std::vector<std::string>* found,
                 std::string* why);

// Of them one for each log that `control` needs and that is in the backup. False: `why`.
bool find_logs_inside(FileSystem& files, const std::string& backup,
                      const std::vector<std::string>& named, const ControlFile& control,
                      std::vector<std::string>* found, std::string* why);

}  // namespace pgsilo
