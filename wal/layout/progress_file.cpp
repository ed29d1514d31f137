#include "wal/layout/progress_file.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "wal/layout/checked_bytes.h"
#include "wal/layout/log_format.h"

namespace pgsilo {
namespace {

constexpr uint32_t mark_magic = 0x4d505350;  // "PSPM"
constexpr uint32_t mark_version = 1;
constexpr size_t places = 2;
// Each mark has a unit of its own, which is never written together with the other's.
constexpr size_t place_bytes = log_format::block_unit;
constexpr size_t log_bytes = 32;
static_assert(128 + log_format::max_loggers * log_bytes <= place_bytes);

std::string encode(const ProgressMark& mark, const Uuid& database) {
  CheckedWriter to(mark_magic, mark_version);
  to.uuid(database);
  to.u64(mark.sequence);
  to.u64(mark.incarnation);
  to.uuid(mark.id);
  to.u64(mark.recorded.value());
  to.u32(static_cast<uint32_t>(mark.logs.size()));
  for (const LogProgress& log : mark.logs) {
    to.uuid(log.log);
    to.u64(log.segment);
    to.u64(log.blocks);
  }
  to.pad(place_bytes);
  return to.finish();
}

std::optional<ProgressMark> decode(std::string_view bytes, const Uuid& database) {
  CheckedReader from(bytes);
  if (from.head(mark_magic, mark_version) != CheckedReader::Head::ok || from.uuid() != database)
    return std::nullopt;
  ProgressMark mark;
  mark.sequence = from.u64();
  mark.incarnation = from.u64();
  mark.id = from.uuid();
  mark.recorded = Epoch(from.u64());
  uint32_t logs = from.u32();
  for (uint32_t i = 0; i < logs && from.ok(); ++i) {
    LogProgress log{.log = from.uuid()};
    log.segment = from.u64();
    log.blocks = from.u64();
    mark.logs.push_back(log);
  }
  return from.ok() ? std::optional(std::move(mark)) : std::nullopt;
}

}  // namespace

const LogProgress* progress_of(const ProgressMark* mark, const Uuid& log) {
  if (mark == nullptr) return nullptr;
  auto found = std::find_if(mark->logs.begin(), mark->logs.end(),
                            [&](const LogProgress& each) { return each.log == log; });
  return found == mark->logs.end() ? nullptr : &*found;
}

ProgressRead read_progress(FileSystem& files, const std::string& directory, const Uuid& database,
                           std::vector<ProgressMark>* marks, FileResult* failure) {
  std::string content;
  FileResult result = read_whole_file(files, join_path(directory, progress_file_name), &content);
  if (result.status == FileStatus::not_found) return ProgressRead::missing;
  *failure = result;
  if (!result.ok()) return ProgressRead::unreadable;
  for (size_t at = 0; at + place_bytes <= content.size(); at += place_bytes) {
    std::string_view place = std::string_view(content).substr(at, place_bytes);
    if (std::optional<ProgressMark> mark = decode(place, database))
      marks->push_back(std::move(*mark));
  }
  std::sort(marks->begin(), marks->end(),
            [](const ProgressMark& a, const ProgressMark& b) { return a.sequence > b.sequence; });
  return marks->empty() ? ProgressRead::damaged : ProgressRead::ok;
}

FileResult ProgressFile::create(ProgressMark mark, const ProgressMark* before) {
  mark.sequence = before == nullptr ? 1 : before->sequence + 1;
  std::string content = encode(mark, database_);
  content += before == nullptr ? std::string(place_bytes, '\0') : encode(*before, database_);
  FileResult result = replace_file(files_, path_, content);
  if (result.ok()) result = files_.open(path_, {.write = true, .synchronous = true}, &file_);
  sequence_ = mark.sequence;
  next_place_ = 1;
  return result;
}

FileResult ProgressFile::go_on(ProgressMark mark, const ProgressMark& before) {
  unsigned place = 0;
  if (!find(before, &place)) return create(std::move(mark), &before);
  FileResult result = files_.open(path_, {.write = true, .synchronous = true}, &file_);
  if (!result.ok()) return result;
  sequence_ = before.sequence;
  next_place_ = (place + 1) % places;
  return write(std::move(mark));
}

bool ProgressFile::find(const ProgressMark& mark, unsigned* place) const {
  std::string content;
  if (!read_whole_file(files_, path_, &content).ok() || content.size() != places * place_bytes)
    return false;
  for (*place = 0; *place < places; ++*place) {
    std::string_view bytes = std::string_view(content).substr(*place * place_bytes, place_bytes);
    std::optional<ProgressMark> found = decode(bytes, database_);
    if (found && found->id == mark.id && found->sequence == mark.sequence) return true;
  }
  return false;
}

FileResult ProgressFile::write(ProgressMark mark) {
  mark.sequence = sequence_ + 1;
  std::string content = encode(mark, database_);
  FileResult result = file_->write_at(content.data(), content.size(), next_place_ * place_bytes);
  // Else the place holds the one or the other, or neither: it is still the one to be overwritten.
  if (!result.ok()) return result;
  sequence_ = mark.sequence;
  next_place_ = (next_place_ + 1) % places;
  return result;
}

}  // namespace pgsilo
