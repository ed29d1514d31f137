#include "wal/checkpoint/checkpoint_origin.h"

#include <algorithm>
#include <array>
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

// What a copied start wrote is this copy's only in a directory that really lies in the data
// directory, whatever its name says: a link may lead to the server's own.
bool owns_files_of(const ControlFile& control, const Uuid& incarnation, bool inside) {
  return std::ranges::any_of(control.own_starts, [&](const OwnStart& start) {
    return start.id == incarnation && (!start.copied || inside);
  });
}

}  // namespace

CheckpointOrigin origin_of_checkpoint_file(FileSystem& files, const std::string& path,
                                           const Uuid& database) {
  using Kind = CheckpointOrigin::Kind;
  std::unique_ptr<File> file;
  uint64_t bytes = 0;
  FileResult opened = files.open(path, {}, &file);
  if (opened.status == FileStatus::not_found) return {Kind::missing, {}};
  if (!opened.ok() || !file->size(&bytes).ok()) return {};
  // Mostly the first block tells it, and that needs no large memory.
  std::array<char, checkpoint_format::block_unit> first;
  AlignedBytes more;
  int failures = 0;
  for (uint64_t at = 0; at < bytes; at += at == 0 ? first.size() : read_bytes) {
    if (at != 0 && more == nullptr) more = allocate_aligned(read_bytes);
    char* buffer = at == 0 ? first.data() : more.get();
    size_t got = 0;
    if (!file->read_at(buffer, at == 0 ? first.size() : read_bytes, at, &got).ok()) {
      if (++failures == most_failures) break;
      continue;
    }
    std::optional<CheckpointFileIdentity> claimed = first_claim({buffer, got}, database);
    if (claimed) return {Kind::told, *claimed};
  }
  return {failures == 0 ? Kind::blank : Kind::unreadable, {}};
}

Removable is_removable(FileSystem& files, const std::string& data_directory,
                       const std::string& directory, const std::string& name,
                       const ControlFile& control) {
  std::string where = join_path(data_directory, directory);
  CheckpointOrigin origin =
      origin_of_checkpoint_file(files, join_path(where, name), control.database);
  bool inside = lies_inside(files, where, data_directory);
  switch (origin.kind) {
    case CheckpointOrigin::Kind::told:
      return origin.identity.name() == name &&
                     owns_files_of(control, origin.identity.incarnation, inside)
                 ? Removable::yes
                 : Removable::no;
    case CheckpointOrigin::Kind::blank:
    case CheckpointOrigin::Kind::missing:
      return Removable::yes;
    case CheckpointOrigin::Kind::unreadable:
      break;
  }
  return Removable::unknown;
}

}  // namespace pgsilo
