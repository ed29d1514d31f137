#include "wal/layout/slot_file.h"

#include "base/file.h"
#include "wal/layout/checked_bytes.h"

namespace pgsilo {
namespace {

constexpr uint32_t slots_magic = 0x4c535350;  // "PSSL"
constexpr uint32_t slots_version = 1;
constexpr uint32_t reserved_flag = 1;
constexpr uint32_t lost_flag = 2;

void write_slot(CheckedWriter& to, const LogSlot& slot) {
  to.text(slot.name);
  to.u32((slot.reserved ? reserved_flag : 0) | (slot.lost ? lost_flag : 0));
  to.u64(slot.restart.value());
  to.u32(static_cast<uint32_t>(slot.cuts.size()));
  for (const LogCut& cut : slot.cuts) {
    to.uuid(cut.log);
    to.u64(cut.segment);
  }
}

LogSlot read_slot(CheckedReader& from) {
  LogSlot slot;
  slot.name = from.text();
  uint32_t flags = from.u32();
  slot.reserved = (flags & reserved_flag) != 0;
  slot.lost = (flags & lost_flag) != 0;
  slot.restart = Epoch(from.u64());
  uint32_t cuts = from.u32();
  for (uint32_t i = 0; i < cuts && from.ok(); ++i) {
    Uuid log = from.uuid();
    slot.cuts.push_back({.log = log, .segment = from.u64(), .block = 0});
  }
  return slot;
}

}  // namespace

uint64_t first_kept(const LogSlot& slot, const Uuid& log) {
  if (!slot.reserved || slot.lost) return UINT64_MAX;
  const LogCut* cut = find_cut(slot.cuts, log);
  return cut == nullptr ? 0 : cut->segment;
}

SlotsRead read_slots(FileSystem& files, const std::string& directory, const Uuid& database,
                     std::vector<LogSlot>* slots, FileResult* failure) {
  std::string content;
  *failure = read_whole_file(files, join_path(directory, slot_file_name), &content);
  if (failure->status == FileStatus::not_found) return SlotsRead::ok;
  if (!failure->ok()) return SlotsRead::unreadable;
  CheckedReader from(content);
  CheckedReader::Head head = from.head(slots_magic, slots_version);
  if (head == CheckedReader::Head::other_version) return SlotsRead::other_version;
  if (head != CheckedReader::Head::ok || from.uuid() != database) return SlotsRead::damaged;
  uint32_t count = from.u32();
  for (uint32_t i = 0; i < count && from.ok(); ++i) {
    CheckedReader slot = from.sized();
    slots->push_back(read_slot(slot));
    from.join(slot);
  }
  return from.ok() ? SlotsRead::ok : SlotsRead::damaged;
}

FileResult write_slots(FileSystem& files, const std::string& directory, const Uuid& database,
                       const std::vector<LogSlot>& slots) {
  CheckedWriter to(slots_magic, slots_version);
  to.uuid(database);
  uint32_t count = 0;
  for (const LogSlot& slot : slots) count += slot.owner == 0 ? 1 : 0;
  to.u32(count);
  for (const LogSlot& slot : slots) {
    if (slot.owner == 0) to.sized([&] { write_slot(to, slot); });
  }
  return replace_file(files, join_path(directory, slot_file_name), to.finish());
}

}  // namespace pgsilo
