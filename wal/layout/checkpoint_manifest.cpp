#include "wal/layout/checkpoint_manifest.h"

#include <algorithm>
#include <numeric>

#include "base/clock.h"
#include "base/file.h"
#include "wal/layout/checked_bytes.h"

namespace pgsilo {
namespace {

// Of control files.
constexpr uint32_t last_version_without_lengths = 7;

void write_cut(CheckedWriter& to, const LogCut& cut) {
  to.uuid(cut.log);
  to.u64(cut.segment);
  to.u64(cut.block);
}

LogCut read_cut(CheckedReader& from) {
  LogCut cut;
  cut.log = from.uuid();
  cut.segment = from.u64();
  cut.block = from.u64();
  return cut;
}

void write_file(CheckedWriter& to, const CheckpointFile& file) {
  to.text(file.directory);
  to.u64(file.checkpoint);
  to.u32(file.number);
  to.uuid(file.incarnation);
  to.u64(file.footer_offset);
  to.u64(file.footer_bytes);
  to.u64(file.footer_checksum);
  to.u64(file.bytes);
  to.u64(file.blocks);
  to.u64(file.records);
  to.u64(file.system_blocks);
  to.u32(static_cast<uint32_t>(file.taken.size()));
  for (const BlockRange& range : file.taken) {
    to.u64(range.first);
    to.u64(range.count);
  }
}

CheckpointFile read_file(CheckedReader& from) {
  CheckpointFile file;
  file.directory = from.text();
  file.checkpoint = from.u64();
  file.number = from.u32();
  file.incarnation = from.uuid();
  file.footer_offset = from.u64();
  file.footer_bytes = from.u64();
  file.footer_checksum = from.u64();
  file.bytes = from.u64();
  file.blocks = from.u64();
  file.records = from.u64();
  file.system_blocks = from.u64();
  uint32_t ranges = from.u32();
  for (uint32_t i = 0; i < ranges && from.ok(); ++i) {
    uint64_t first = from.u64();
    file.taken.push_back({first, from.u64()});
  }
  return file;
}

void read_fields(CheckedReader& from, CheckpointManifest* manifest) {
  manifest->incarnation = from.u64();
  manifest->begun = Epoch(from.u64());
  manifest->ended = Epoch(from.u64());
  manifest->recorded = Epoch(from.u64());
  manifest->unix_time_us = known_unix_time_us(from.u64());
  manifest->relation_id_floor = from.u32();
  manifest->records = from.u64();
}

// Of control files of versions up to 7.
CheckpointManifest read_oldest_manifest(CheckedReader& from) {
  CheckpointManifest manifest;
  manifest.number = from.u64();
  if (!manifest.exists()) return manifest;
  read_fields(from, &manifest);
  uint32_t cuts = from.u32();
  for (uint32_t i = 0; i < cuts && from.ok(); ++i) manifest.cuts.push_back(read_cut(from));
  uint32_t files = from.u32();
  for (uint32_t i = 0; i < files && from.ok(); ++i) {
    CheckpointFile& file = manifest.files.emplace_back();
    file.directory = from.text();
    file.checkpoint = manifest.number;
    file.number = i;
    file.footer_offset = from.u64();
    file.footer_bytes = from.u64();
    file.bytes = from.u64();
  }
  return manifest;
}

}  // namespace

const LogCut* find_cut(const std::vector<LogCut>& cuts, const Uuid& log) {
  auto found = std::ranges::find(cuts, log, &LogCut::log);
  return found == cuts.end() ? nullptr : &*found;
}

std::string CheckpointFile::path(const std::string& data_directory, const Uuid& database) const {
  return join_path(join_path(data_directory, directory), identity(database).name());
}

bool CheckpointManifest::names(const CheckpointFile& file) const {
  return std::any_of(files.begin(), files.end(), [&](const CheckpointFile& named) {
    return named.checkpoint == file.checkpoint && named.number == file.number;
  });
}

uint64_t CheckpointManifest::bytes() const {
  return std::accumulate(files.begin(), files.end(), uint64_t{0},
                         [](uint64_t sum, const CheckpointFile& file) { return sum + file.bytes; });
}

void write_manifest(CheckedWriter& to, const CheckpointManifest& manifest) {
  to.u64(manifest.number);
  if (!manifest.exists()) return;
  to.sized([&] {
    to.u64(manifest.incarnation);
    to.u64(manifest.begun.value());
    to.u64(manifest.ended.value());
    to.u64(manifest.recorded.value());
    to.u64(manifest.unix_time_us);
    to.u32(manifest.relation_id_floor);
    to.u64(manifest.records);
    to.uuid(manifest.incarnation_id);
  });
  to.u32(static_cast<uint32_t>(manifest.cuts.size()));
  for (const LogCut& cut : manifest.cuts) to.sized([&] { write_cut(to, cut); });
  to.u32(static_cast<uint32_t>(manifest.files.size()));
  for (const CheckpointFile& file : manifest.files) to.sized([&] { write_file(to, file); });
}

CheckpointManifest read_manifest(CheckedReader& from) {
  if (from.version() <= last_version_without_lengths) return read_oldest_manifest(from);
  CheckpointManifest manifest;
  manifest.number = from.u64();
  if (!manifest.exists()) return manifest;
  CheckedReader fields = from.sized();
  read_fields(fields, &manifest);
  manifest.incarnation_id = fields.uuid();
  from.join(fields);
  uint32_t cuts = from.u32();
  for (uint32_t i = 0; i < cuts && from.ok(); ++i) {
    CheckedReader cut = from.sized();
    manifest.cuts.push_back(read_cut(cut));
    from.join(cut);
  }
  uint32_t files = from.u32();
  for (uint32_t i = 0; i < files && from.ok(); ++i) {
    CheckedReader file = from.sized();
    manifest.files.push_back(read_file(file));
    from.join(file);
  }
  return manifest;
}

}  // namespace pgsilo
