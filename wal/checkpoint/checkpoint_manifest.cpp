#include "wal/checkpoint/checkpoint_manifest.h"

#include <numeric>

#include "wal/layout/checked_bytes.h"

namespace pgsilo {

uint64_t CheckpointManifest::bytes() const {
  return std::accumulate(files.begin(), files.end(), uint64_t{0},
                         [](uint64_t sum, const CheckpointFile& file) { return sum + file.bytes; });
}

void write_manifest(CheckedWriter& to, const CheckpointManifest& manifest) {
  to.u64(manifest.number);
  if (!manifest.exists()) return;
  to.u64(manifest.incarnation);
  to.uuid(manifest.incarnation_id);
  to.u64(manifest.begun.value());
  to.u64(manifest.ended.value());
  to.u64(manifest.recorded.value());
  to.u64(manifest.unix_time_us);
  to.u32(manifest.relation_id_floor);
  to.u64(manifest.records);
  to.u32(static_cast<uint32_t>(manifest.cuts.size()));
  for (const LogCut& cut : manifest.cuts) {
    to.uuid(cut.log);
    to.u64(cut.segment);
    to.u64(cut.block);
  }
  to.u32(static_cast<uint32_t>(manifest.files.size()));
  for (const CheckpointFile& file : manifest.files) {
    to.text(file.directory);
    to.u64(file.footer_offset);
    to.u64(file.footer_bytes);
    to.u64(file.bytes);
  }
}

CheckpointManifest read_manifest(CheckedReader& from) {
  CheckpointManifest manifest;
  manifest.number = from.u64();
  if (!manifest.exists()) return manifest;
  manifest.incarnation = from.u64();
  if (from.version() >= 8) manifest.incarnation_id = from.uuid();
  manifest.begun = Epoch(from.u64());
  manifest.ended = Epoch(from.u64());
  manifest.recorded = Epoch(from.u64());
  manifest.unix_time_us = from.u64();
  manifest.relation_id_floor = from.u32();
  manifest.records = from.u64();
  uint32_t cuts = from.u32();
  for (uint32_t i = 0; i < cuts && from.ok(); ++i) {
    LogCut cut;
    cut.log = from.uuid();
    cut.segment = from.u64();
    cut.block = from.u64();
    manifest.cuts.push_back(cut);
  }
  uint32_t files = from.u32();
  for (uint32_t i = 0; i < files && from.ok(); ++i) {
    CheckpointFile file;
    file.directory = from.text();
    file.footer_offset = from.u64();
    file.footer_bytes = from.u64();
    file.bytes = from.u64();
    manifest.files.push_back(std::move(file));
  }
  return manifest;
}

}  // namespace pgsilo
