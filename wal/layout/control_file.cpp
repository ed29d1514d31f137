#include "wal/layout/control_file.h"

#include "base/file.h"
#include "wal/layout/checked_bytes.h"
#include "wal/log/log_format.h"

namespace pgsilo {
namespace {

constexpr uint32_t control_magic = 0x54435350;  // "PSCT"
constexpr uint32_t oldest_version = 3;          // knew no checkpoints
// 4: logs are not compressed; 5: blocks do not tell whether they hold catalog rows; 6: nor segments
// whether the one before does.
constexpr uint32_t control_version = 7;
constexpr uint32_t closed_flag = 1;
constexpr uint32_t clean_flag = 2;

void write_incarnation(CheckedWriter& to, const Incarnation& incarnation) {
  to.u64(incarnation.number);
  to.u64(incarnation.first_epoch.value());
  to.u32((incarnation.closed ? closed_flag : 0) | (incarnation.clean ? clean_flag : 0));
  to.u64(incarnation.durable.value());
  to.u32(static_cast<uint32_t>(incarnation.logs.size()));
  for (const LogIdentity& log : incarnation.logs) {
    to.uuid(log.log);
    to.text(log.path);
  }
}

Incarnation read_incarnation(CheckedReader& from) {
  Incarnation incarnation;
  incarnation.number = from.u64();
  incarnation.first_epoch = Epoch(from.u64());
  uint32_t flags = from.u32();
  incarnation.closed = (flags & closed_flag) != 0;
  incarnation.clean = (flags & clean_flag) != 0;
  incarnation.durable = Epoch(from.u64());
  uint32_t logs = from.u32();
  for (uint32_t i = 0; i < logs && from.ok(); ++i) {
    Uuid log = from.uuid();
    incarnation.logs.push_back({.log = log, .path = from.text()});
  }
  return incarnation;
}

}  // namespace

bool needs_log(const ControlFile& control, const Incarnation& incarnation) {
  const CheckpointManifest& checkpoint = control.checkpoint;
  if (!checkpoint.exists() || incarnation.number > checkpoint.incarnation) return true;
  if (incarnation.number < checkpoint.incarnation) return false;
  return !incarnation.closed || incarnation.durable >= checkpoint.begun;
}

ControlRead read_control_file(FileSystem& files, const std::string& directory, ControlFile* control,
                              FileResult* failure) {
  std::string content;
  FileResult result = read_whole_file(files, join_path(directory, control_file_name), &content);
  if (result.status == FileStatus::not_found) return ControlRead::missing;
  if (failure != nullptr) *failure = result;
  if (!result.ok()) return ControlRead::unreadable;
  CheckedReader reader(content);
  switch (reader.head(control_magic, oldest_version, control_version)) {
    case CheckedReader::Head::ok:
      break;
    case CheckedReader::Head::damaged:
      return ControlRead::damaged;
    case CheckedReader::Head::other_version:
      control->version = reader.version();
      return ControlRead::other_version;
  }
  *control = ControlFile{};
  control->version = reader.version();
  control->database = reader.uuid();
  control->last_incarnation = reader.u64();
  uint32_t count = reader.u32();
  for (uint32_t i = 0; i < count && reader.ok(); ++i) {
    control->incarnations.push_back(read_incarnation(reader));
  }
  if (control->version >= 4) control->checkpoint = read_manifest(reader);
  return reader.complete() ? ControlRead::ok : ControlRead::damaged;
}

FileResult write_control_file(FileSystem& files, const std::string& directory,
                              const ControlFile& control, bool* replaced) {
  CheckedWriter writer(control_magic, control_version);
  writer.uuid(control.database);
  writer.u64(control.last_incarnation);
  writer.u32(static_cast<uint32_t>(control.incarnations.size()));
  for (const Incarnation& incarnation : control.incarnations)
    write_incarnation(writer, incarnation);
  write_manifest(writer, control.checkpoint);
  return replace_file(files, join_path(directory, control_file_name), writer.finish(), replaced);
}

}  // namespace pgsilo
