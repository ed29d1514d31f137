#include <mutex>
#include <new>

#include "storage/relation/system_relations.h"
#include "wal/recovery/checkpoint_blocks.h"
#include "wal/recovery/inspection.h"
#include "wal/recovery/parallel.h"
#include "wal/recovery/recovery_meter.h"

namespace pgsilo {
namespace {

// The loader's place: counts the rows that it would load.
class BlockChecker {
 public:
  BlockChecker(FileSystem& files, const std::vector<OpenedCheckpointFile>& opened,
               RecoveryMeter& meter)
      : files_(files), opened_(opened), meter_(meter), blocks_(blocks_by_key(opened)) {}

  bool run(unsigned threads, CheckpointReport* report, std::string* why) {
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
    report->skippable_blocks += skippable_blocks_;
    report->skippable_records += skippable_records_;
    report->fatal_blocks = fatal_blocks_;
    *why = why_;
    return why_.empty();
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
    if (why_.empty()) why_ = why;
    if (skippable) {
      ++skippable_blocks_;
      skippable_records_ += placed.block->records;
    } else {
      ++fatal_blocks_;
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
  uint64_t skippable_blocks_ = 0;
  uint64_t skippable_records_ = 0;
  uint64_t fatal_blocks_ = 0;
  std::string why_;
};

}  // namespace

bool inspect_checkpoint(FileSystem& files, const std::vector<OpenedCheckpointFile>& opened,
                        unsigned threads, RecoveryMeter& meter, CheckpointReport* report,
                        std::string* why) {
  return BlockChecker(files, opened, meter).run(threads, report, why);
}

}  // namespace pgsilo
