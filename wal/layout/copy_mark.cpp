#include "wal/layout/copy_mark.h"

#include "base/failed_call.h"
#include "base/file.h"
#include "wal/layout/checked_bytes.h"

namespace pgsilo {
namespace {

constexpr uint32_t copy_magic = 0x50435350;  // "PSCP"
constexpr uint32_t copy_version = 1;

}  // namespace

bool read_copy_mark(FileSystem& files, const std::string& directory, Uuid* copy, std::string* why) {
  std::string path = join_path(directory, copy_mark_name);
  std::string content;
  *copy = {};
  FileResult result = read_whole_file(files, path, &content);
  if (result.status == FileStatus::not_found) return true;
  if (!result.ok()) {
    *why = could_not("read file", path, result);
    return false;
  }
  CheckedReader reader(content);
  bool whole = reader.head(copy_magic, copy_version) == CheckedReader::Head::ok;
  *copy = reader.uuid();
  if (whole && reader.complete()) return true;
  *why =
      "file \"" + path +
      "\" is damaged\nHINT:  The data directory of a copy and its log directories have the same: "
      "put another one's in its place.";
  return false;
}

FileResult write_copy_mark(FileSystem& files, const std::string& directory, const Uuid& copy) {
  CheckedWriter writer(copy_magic, copy_version);
  writer.uuid(copy);
  return replace_file(files, join_path(directory, copy_mark_name), writer.finish());
}

}  // namespace pgsilo
