#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "storage/epoch/reclaimer.h"
#include "storage/relation/relation_directory.h"
#include "storage/relation/system_relations.h"
#include "wal/recovery/checkpoint_blocks.h"
#include "wal/recovery/checkpoint_loader.h"
#include "wal/recovery/inspection.h"
#include "wal/recovery/parallel.h"
#include "wal/recovery/recovery_meter.h"
#include "wal/recovery/replay.h"
#include "wal/recovery/restored_relations.h"

namespace pgsilo {
namespace {

// The loader's place: counts the rows that it would load.
class BlockChecker {
 public:
  BlockChecker(FileSystem& files, const std::vector<OpenedCheckpointFile>& opened,
               RecoveryMeter& meter)
      : files_(files), opened_(opened), meter_(meter), blocks_(blocks_by_key(opened)) {}

  CheckpointDamage run(unsigned threads, CheckpointReport* report) {
    run_jobs(
        blocks_.size(), threads,
        [this] {
          auto reader = std::make_shared<CheckpointBlocks>(files_, opened_);
          return [this, reader](size_t block) { check(*reader, block); };
        },
        [this] { meter_.report(); });
    report->files = opened_.size();
    report->blocks = blocks_.size();
    report->records = records_;
    return std::move(damage_);
  }

 private:
  void check(CheckpointBlocks& blocks, size_t number) {
    const PlacedBlock& placed = blocks_[number];
    uint64_t records = 0;
    bool skippable = false;
    std::string why;
    try {
      CheckpointBlockReader reader;
      CheckpointFault fault = blocks.read(placed.file, *placed.block, &reader);
      if (!fault && !count(reader, number, &records)) why = "a checkpoint holds a key twice";
      if (reader.damaged())
        fault = damaged_checkpoint(opened_[placed.file].path, placed.block->offset);
      if (fault) why = fault.words;
      skippable = fault.is_of_the_disk() && !reader.damaged() &&
                  !is_system_relation(placed.block->relation);
      if (skippable) why += skip_hint;
    } catch (const std::bad_alloc&) {
      why = "out of memory";
    }
    meter_.add(placed.block->bytes);
    std::lock_guard lock(mutex_);
    records_ += records;
    if (why.empty()) return;
    DamagedRelation& damaged = damage_[placed.block->relation];
    if (damaged.why.empty()) damaged.why = why;
    if (skippable) {
      ++damaged.skippable_blocks;
      damaged.skippable_records += placed.block->records;
    } else {
      ++damaged.fatal_blocks;
    }
  }

  // False: a key comes twice, here or as the next block's first one.
  bool count(CheckpointBlockReader& reader, size_t number, uint64_t* records) const {
    std::string_view last;
    for (CheckpointEntry entry; reader.next(&entry); ++*records) {
      if (*records != 0 && entry.key == last) return false;
      last = entry.key;
    }
    if (number + 1 == blocks_.size() || *records == 0) return true;
    const CheckpointBlock& following = *blocks_[number + 1].block;
    return following.relation != blocks_[number].block->relation || following.first_key != last;
  }

  FileSystem& files_;
  const std::vector<OpenedCheckpointFile>& opened_;
  RecoveryMeter& meter_;
  const std::vector<PlacedBlock> blocks_;
  std::mutex mutex_;
  uint64_t records_ = 0;
  CheckpointDamage damage_;
};

}  // namespace

CheckpointDamage inspect_checkpoint(FileSystem& files,
                                    const std::vector<OpenedCheckpointFile>& opened,
                                    unsigned threads, RecoveryMeter& meter,
                                    CheckpointReport* report) {
  return BlockChecker(files, opened, meter).run(threads, report);
}

void forget_dropped(FileSystem& files, const std::vector<OpenedCheckpointFile>& opened,
                    const LogAnalysis& analysis, const LiveRelationsIn& live, unsigned threads,
                    RecoveryMeter& meter, CheckpointDamage* damage) {
  if (!live || damage->empty() || is_system_relation(damage->begin()->first)) return;
  RelationDirectory relations;
  Reclaimer reclaimer;
  const RestoredRelations system = RestoredRelations::of_system();
  uint64_t rows = 0;
  ReplayCounts counts;
  std::string why;
  if (!load_checkpoint(files, opened, system, threads, relations, reclaimer, meter, &rows,
                       /*lost=*/nullptr, &why) ||
      !replay_logs(files, analysis, system, threads, relations, reclaimer, meter, &counts, &why)) {
    return;
  }
  std::vector<RelationId> there = live(relations, reclaimer);
  std::erase_if(*damage, [&](const auto& relation) {
    return !std::ranges::binary_search(there, relation.first);
  });
}

}  // namespace pgsilo
