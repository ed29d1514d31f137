#include "wal/tool/dump_statistics.h"

#include <algorithm>
#include <cinttypes>

namespace pgsilo {

void DumpStatistics::add_block(const BlockView& block) {
  OfIncarnation& counts = incarnations_[block.header.incarnation];
  ++counts.blocks;
  counts.block_bytes += block.bytes;
}

void DumpStatistics::add_record(uint64_t incarnation, Tid tid, uint64_t bytes) {
  OfIncarnation& counts = incarnations_[incarnation];
  ++counts.records;
  counts.record_bytes += bytes;
  counts.first = std::min(counts.first, tid.epoch());
  counts.last = std::max(counts.last, tid.epoch());
  ++records_;
}

void DumpStatistics::add_entry(uint64_t incarnation, const RedoEntry& entry) {
  ++incarnations_[incarnation].entries;
  OfRelation& counts = relations_[entry.relation];
  if (counts.last_record != records_) ++counts.records;
  counts.last_record = records_;
  ++counts.entries;
  counts.tombstones += entry.tombstone ? 1 : 0;
  counts.bytes += entry_bytes(entry);
}

void DumpStatistics::print(std::FILE* out) const {
  std::fprintf(out, "%12s %12s %14s %12s %12s %14s  %s\n", "incarnation", "blocks", "block bytes",
               "records", "entries", "record bytes", "epochs");
  for (const auto& [number, counts] : incarnations_) {
    std::fprintf(out,
                 "%12" PRIu64 " %12" PRIu64 " %14" PRIu64 " %12" PRIu64 " %12" PRIu64 " %14" PRIu64,
                 number, counts.blocks, counts.block_bytes, counts.records, counts.entries,
                 counts.record_bytes);
    if (counts.records == 0) {
      std::fprintf(out, "  none\n");
    } else {
      std::fprintf(out, "  %" PRIu64 " to %" PRIu64 "\n", counts.first.value(),
                   counts.last.value());
    }
  }
  std::fprintf(out, "\n%12s %12s %12s %12s %14s\n", "relation", "records", "entries", "tombstones",
               "bytes");
  for (const auto& [relation, counts] : relations_) {
    std::fprintf(out, "%12" PRIu32 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %14" PRIu64 "\n",
                 relation.value(), counts.records, counts.entries, counts.tombstones, counts.bytes);
  }
}

}  // namespace pgsilo
