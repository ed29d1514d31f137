#include "wal/checkpoint/checkpoint_origin.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "base/aligned_bytes.h"
#include "base/file.h"
#include "wal/layout/control_file.h"

namespace pgsilo {
namespace {

constexpr size_t read_bytes = size_t{256} << 10;
// More of it are not tried: a device may take long to give up on each.
constexpr int most_failures = 8;

std::optional<CheckpointFileIdentity> first_claim(std::string_view bytes, const Uuid& database) {
  for (size_t at = 0; at < bytes.size(); at += checkpoint_format::block_unit) {
    std::string_view unit = bytes.substr(at, checkpoint_format::block_unit);
    if (std::optional<CheckpointFileIdentity> claimed = claimed_identity(unit, database))
      return claimed;
  }
  return std::nullopt;
}

}  // namespace

CheckpointOrigin origin_of_checkpoint_file(FileSystem& files, const std::string& path,
                                           const Uuid& database) {
  std::unique_ptr<File> file;
  uint64_t bytes = 0;
  if (!files.open(path, {}, &file).ok() || !file->size(&bytes).ok()) return {};
  AlignedBytes buffer = allocate_aligned(read_bytes);
  int failures = 0;
  // Mostly the first block tells it.
  size_t wanted = checkpoint_format::block_unit;
  for (uint64_t at = 0; at < bytes; at += wanted, wanted = read_bytes) {
    size_t got = 0;
    if (!file->read_at(buffer.get(), wanted, at, &got).ok()) {
      if (++failures == most_failures) break;
      continue;
    }
    std::optional<CheckpointFileIdentity> claimed = first_claim({buffer.get(), got}, database);
    if (claimed) return {CheckpointOrigin::Kind::told, *claimed};
  }
  using Kind = CheckpointOrigin::Kind;
  return {failures == 0 ? Kind::blank : Kind::unreadable, {}};
}

bool is_removable(FileSystem& files, const std::string& data_directory,
                  const std::string& directory, const std::string& name,
                  const ControlFile& control) {
  std::string path = join_path(join_path(data_directory, directory), name);
  CheckpointOrigin origin = origin_of_checkpoint_file(files, path, control.database);
  switch (origin.kind) {
    case CheckpointOrigin::Kind::told:
      return origin.identity.name() == name &&
             owns_files_of(control, origin.identity.incarnation, directory);
    case CheckpointOrigin::Kind::blank:
      return true;
    case CheckpointOrigin::Kind::unreadable:
      return false;
  }
  return false;
}

}  // namespace pgsilo
