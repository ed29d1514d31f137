#include "wal/backup/backup_places.h"

#include <algorithm>
#include <set>

#include "base/failed_call.h"
#include "base/file.h"
#include "wal/layout/control_file.h"
#include "wal/layout/log_directory.h"

namespace pgsilo {
namespace {

// The longest first, which is the whole name.
void add_ends(const std::string& name, std::vector<std::string>* ends) {
  for (size_t begin = 0; begin < name.size();) {
    ends->push_back(name.substr(begin));
    size_t slash = name.find('/', begin);
    begin = slash == std::string::npos ? name.size() : slash + 1;
  }
}

std::set<Uuid> needed_logs(const ControlFile& control) {
  std::set<Uuid> needed;
  for (const Incarnation& incarnation : control.incarnations) {
    if (!needs_log(control, incarnation)) continue;
    for (const LogIdentity& log : incarnation.logs) needed.insert(log.log);
  }
  return needed;
}

}  // namespace

bool list_inside(FileSystem& files, const std::string& backup,
                 const std::vector<std::string>& named, std::vector<std::string>* found,
                 std::string* why) {
  std::vector<std::string> entries;
  FileResult result = files.list(backup, &entries);
  if (!result.ok()) {
    *why = could_not("read directory", backup, result);
    return false;
  }
  std::vector<std::string> unused;
  std::erase_if(entries, [&](const std::string& entry) {
    return !files.list(join_path(backup, entry), &unused).ok();
  });
  std::ranges::sort(entries);
  std::vector<std::string> places;
  for (const std::string& name : named) add_ends(name, &places);
  places.insert(places.end(), entries.begin(), entries.end());
  for (const std::string& place : places) {
    if (std::ranges::find(*found, place) != found->end()) continue;
    if (lies_inside(files, join_path(backup, place), backup)) found->push_back(place);
  }
  return true;
}

// One whose identity cannot be read may be one that is not found.
bool find_logs_inside(FileSystem& files, const std::string& backup,
                      const std::vector<std::string>& named, const ControlFile& control,
                      std::vector<std::string>* found, std::string* why) {
  std::vector<std::string> places;
  if (!list_inside(files, backup, named, &places, why)) return false;
  std::set<Uuid> wanted = needed_logs(control);
  std::string first_fault;
  for (const std::string& place : places) {
    LogDirectory directory(files, join_path(backup, place));
    std::string fault;
    if (!directory.read_identity(&fault) && first_fault.empty()) first_fault = fault;
    if (directory.has_identity() && wanted.erase(directory.log()) != 0) found->push_back(place);
  }
  if (wanted.empty() || first_fault.empty()) return true;
  *why = first_fault;
  return false;
}

}  // namespace pgsilo
