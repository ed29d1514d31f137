#include "wal/layout/control_file.h"

#include "base/file.h"
#include "base/product_version.h"
#include "wal/layout/checked_bytes.h"
#include "wal/layout/log_format.h"

namespace pgsilo {
namespace {

constexpr uint32_t control_magic = 0x54435350;  // "PSCT"
constexpr uint32_t oldest_version = 3;          // knew no checkpoints
// Later ones say the rest in feature bits. 4: logs are not compressed; 5: blocks do not tell
// whether they hold catalog rows; 6: nor segments whether the one before does; 7: all fields are
// fixed.
constexpr uint32_t control_version = 8;
// What each bit means is in docs/log_format.md.
constexpr uint64_t begun_logs = 1;
constexpr FeatureBits known_features{.incompatible = begun_logs};
constexpr uint32_t closed_flag = 1;
constexpr uint32_t clean_flag = 2;

constexpr uint32_t copied_flag = 1;

enum Item : uint32_t {
  database_item = 1,
  incarnation_item = 2,
  checkpoint_item = 3,
  own_starts_item = 4,
};

void write_incarnation(CheckedWriter& to, const Incarnation& incarnation) {
  to.u64(incarnation.number);
  to.uuid(incarnation.id);
  to.uuid(incarnation.parent.incarnation);
  to.u64(incarnation.parent.durable.value());
  to.u64(incarnation.segment_bytes);
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
  if (from.version() >= 8) {
    incarnation.id = from.uuid();
    incarnation.parent.incarnation = from.uuid();
    incarnation.parent.durable = Epoch(from.u64());
    incarnation.segment_bytes = from.u64();
  }
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

void write_own_starts(CheckedWriter& to, const std::vector<OwnStart>& starts) {
  to.u32(static_cast<uint32_t>(starts.size()));
  for (const OwnStart& start : starts) {
    to.uuid(start.id);
    to.u32(start.copied ? copied_flag : 0);
  }
}

std::vector<OwnStart> read_own_starts(CheckedReader& from) {
  std::vector<OwnStart> starts;
  uint32_t count = from.u32();
  for (uint32_t i = 0; i < count && from.ok(); ++i) {
    Uuid id = from.uuid();
    starts.push_back({.id = id, .copied = (from.u32() & copied_flag) != 0});
  }
  return starts;
}

// Versions up to 7. False: damaged.
bool read_fields(CheckedReader& from, ControlFile* control) {
  control->database = from.uuid();
  control->last_incarnation = from.u64();
  uint32_t count = from.u32();
  for (uint32_t i = 0; i < count && from.ok(); ++i)
    control->incarnations.push_back(read_incarnation(from));
  if (control->version >= 4) control->checkpoint = read_manifest(from);
  return from.complete();
}

void write_header(CheckedWriter& to) {
  to.u64(known_features.compatible);
  to.u64(known_features.read_only_compatible);
  to.u64(known_features.incompatible);
  to.text(product_version);
}

bool read_header(CheckedReader header, ControlFile* control) {
  control->unknown.compatible = header.u64() & ~known_features.compatible;
  control->unknown.read_only_compatible = header.u64() & ~known_features.read_only_compatible;
  control->unknown.incompatible = header.u64() & ~known_features.incompatible;
  control->writer = header.text();
  return header.ok();
}

// False: damaged.
bool read_item(CheckedReader& from, ControlFile* control) {
  uint32_t tag = from.u32();
  CheckedReader item = from.sized();
  switch (tag) {
    case database_item:
      control->database = item.uuid();
      control->last_incarnation = item.u64();
      break;
    case incarnation_item:
      control->incarnations.push_back(read_incarnation(item));
      break;
    case checkpoint_item:
      control->checkpoint = read_manifest(item);
      break;
    case own_starts_item:
      control->own_starts = read_own_starts(item);
      break;
    default:
      break;  // of a later version, which says in the feature bits who may go over it
  }
  return item.ok();
}

ControlRead read_items(CheckedReader& from, ControlFile* control) {
  if (!read_header(from.sized(), control)) return ControlRead::damaged;
  if (control->unknown.incompatible != 0) return ControlRead::other_version;
  while (from.has_item()) {
    if (!read_item(from, control)) return ControlRead::damaged;
  }
  return from.ok() && control->database != Uuid{} ? ControlRead::ok : ControlRead::damaged;
}

}  // namespace

IncarnationName name_of(const Incarnation& incarnation) {
  return {.number = incarnation.number, .tag = short_identity(incarnation.id)};
}

bool needs_log(const ControlFile& control, const Incarnation& incarnation) {
  const CheckpointManifest& checkpoint = control.checkpoint;
  if (!checkpoint.exists() || incarnation.number > checkpoint.incarnation) return true;
  if (incarnation.number < checkpoint.incarnation) return false;
  return !incarnation.closed || incarnation.durable >= checkpoint.begun;
}

bool may_be_met(const ControlFile& control, const Incarnation& incarnation) {
  const CheckpointManifest& checkpoint = control.checkpoint;
  bool others =
      incarnation.number == checkpoint.incarnation && incarnation.id != checkpoint.incarnation_id;
  return others || needs_log(control, incarnation);
}

HistoryPoint newest_state(const ControlFile& control, const HistoryPoint& forgotten) {
  for (size_t i = control.incarnations.size(); i-- > 0;) {
    const Incarnation& incarnation = control.incarnations[i];
    if (incarnation.durable >= incarnation.first_epoch)
      return {incarnation.id, incarnation.durable};
  }
  if (forgotten.incarnation != Uuid{}) return forgotten;
  return {control.checkpoint.incarnation_id, control.checkpoint.recorded};
}

void add_own_start(ControlFile& control, const OwnStart& start) {
  std::vector<OwnStart>& starts = control.own_starts;
  if (std::ranges::find(starts, start) != starts.end()) return;
  starts.push_back(start);
  if (starts.size() <= most_own_starts) return;
  // The checkpoint's own files go when it is replaced, however many starts lie between.
  const std::vector<CheckpointFile>& files = control.checkpoint.files;
  auto forgotten = std::ranges::find_if(starts, [&](const OwnStart& each) {
    return std::ranges::find(files, each.id, &CheckpointFile::incarnation) == files.end();
  });
  starts.erase(forgotten);
}

bool may_have_forgotten_starts(const ControlFile& control) {
  constexpr size_t fewest = 64;
  const size_t listed = control.own_starts.size();
  return listed >= fewest && listed < control.last_incarnation;
}

void find_own_starts(ControlFile& control) {
  if (!control.own_starts.empty()) return;
  for (const CheckpointFile& file : control.checkpoint.files)
    add_own_start(control, {.id = file.incarnation});
  for (const Incarnation& incarnation : control.incarnations)
    add_own_start(control, {.id = incarnation.id});
}

ControlRead read_control_file(FileSystem& files, const std::string& directory, ControlFile* control,
                              FileResult* failure) {
  std::string content;
  FileResult result = read_whole_file(files, join_path(directory, control_file_name), &content);
  if (result.status == FileStatus::not_found) return ControlRead::missing;
  if (failure != nullptr) *failure = result;
  if (!result.ok()) return ControlRead::unreadable;
  return decode_control(content, control);
}

ControlRead decode_control(std::string_view bytes, ControlFile* control) {
  CheckedReader reader(bytes);
  CheckedReader::Head head = reader.head(control_magic, oldest_version, control_version);
  if (head == CheckedReader::Head::damaged) return ControlRead::damaged;
  *control = ControlFile{};
  control->version = reader.version();
  if (head == CheckedReader::Head::other_version) return ControlRead::other_version;
  if (control->version >= 8) return read_items(reader, control);
  return read_fields(reader, control) ? ControlRead::ok : ControlRead::damaged;
}

std::string encode_control(const ControlFile& control) {
  CheckedWriter writer(control_magic, control_version);
  writer.sized([&] { write_header(writer); });
  writer.item(database_item, [&] {
    writer.uuid(control.database);
    writer.u64(control.last_incarnation);
  });
  for (const Incarnation& incarnation : control.incarnations)
    writer.item(incarnation_item, [&] { write_incarnation(writer, incarnation); });
  if (control.checkpoint.exists())
    writer.item(checkpoint_item, [&] { write_manifest(writer, control.checkpoint); });
  if (!control.own_starts.empty())
    writer.item(own_starts_item, [&] { write_own_starts(writer, control.own_starts); });
  return writer.finish();
}

FileResult write_control_file(FileSystem& files, const std::string& directory,
                              const ControlFile& control, bool* replaced) {
  return replace_file(files, join_path(directory, control_file_name), encode_control(control),
                      replaced);
}

}  // namespace pgsilo
