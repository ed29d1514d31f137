#include "wal/recovery/checkpoint_loader.h"

#include <memory>
#include <mutex>
#include <new>

#include "base/byte_order.h"
#include "storage/index/index_tree.h"
#include "storage/relation/relation_directory.h"
#include "wal/recovery/checkpoint_blocks.h"
#include "wal/recovery/parallel.h"
#include "wal/recovery/recovery_meter.h"
#include "wal/recovery/restored_relations.h"

namespace pgsilo {
namespace {

// What a thread takes at once, on disk.
constexpr uint64_t share_bytes = uint64_t{8} << 20;

class Loader {
 public:
  Loader(FileSystem& files, const std::vector<OpenedCheckpointFile>& opened,
         const RestoredRelations& restored, RelationDirectory& relations, Reclaimer& reclaimer,
         RecoveryMeter& meter, std::vector<LostBlock>* lost)
      : files_(files),
        opened_(opened),
        restored_(restored),
        relations_(relations),
        reclaimer_(reclaimer),
        meter_(meter),
        lost_(lost) {}

  bool run(unsigned threads, uint64_t* records, std::string* why) {
    share_out();
    create_relations();
    run_jobs(
        shares_.size(), threads,
        [this] {
          auto thread = std::make_shared<Thread>(files_, opened_, reclaimer_);
          return [this, thread](size_t share) { load_share(*thread, share); };
        },
        [this] { meter_.report(); });
    *records += records_.load(std::memory_order_relaxed);
    *why = why_;
    return why_.empty();
  }

 private:
  struct Thread {
    Thread(FileSystem& files, const std::vector<OpenedCheckpointFile>& opened, Reclaimer& reclaimer)
        : handle(reclaimer), blocks(files, opened) {}
    ReclaimerHandle handle;
    CheckpointBlocks blocks;
    NodeChanges changes;
  };
  struct Share {
    size_t begin;  // in blocks_
    size_t end;
  };

  // The blocks in the order of their keys, cut into shares of one relation each.
  void share_out() {
    blocks_ = blocks_by_key(opened_);
    std::erase_if(blocks_, [this](const PlacedBlock& placed) {
      bool contained = restored_.contains(placed.block->relation);
      if (!contained && restored_.covers(placed.block->relation)) meter_.add(placed.block->bytes);
      return !contained;
    });
    uint64_t bytes = share_bytes;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      bool follows = i != 0 && blocks_[i - 1].block->relation == blocks_[i].block->relation;
      if (!follows || bytes >= share_bytes) {
        shares_.push_back({i, i});
        bytes = 0;
      }
      shares_.back().end = i + 1;
      bytes += blocks_[i].block->bytes;
    }
  }

  void create_relations() {
    for (const OpenedCheckpointFile& file : opened_) {
      for (const RowIdFloor& floor : file.footer.row_ids) {
        if (restored_.contains(floor.relation))
          relations_.get_or_create(floor.relation, {}).raise_row_id_floor(floor.floor);
      }
    }
  }

  void fail(const std::string& why) {
    std::lock_guard lock(mutex_);
    if (why_.empty()) why_ = why;
  }

  bool failed() {
    std::lock_guard lock(mutex_);
    return !why_.empty();
  }

  void load_share(Thread& thread, size_t number) {
    const Share& share = shares_[number];
    try {
      Relation& relation =
          relations_.get_or_create(blocks_[share.begin].block->relation, RelationOptions{});
      Pin pin(thread.handle);
      TreeAppender appender(relation.tree());
      for (size_t i = share.begin; i < share.end && !failed(); ++i)
        load_block(thread, blocks_[i], relation, appender);
    } catch (const std::bad_alloc&) {
      fail("out of memory: the database is larger than the memory there is");
    }
  }

  void load_block(Thread& thread, const PlacedBlock& placed, Relation& relation,
                  TreeAppender& appender) {
    CheckpointBlockReader reader;
    CheckpointFault fault = thread.blocks.read(placed.file, *placed.block, &reader);
    if (!fault) insert_all(thread, reader, relation, appender);
    if (reader.damaged())
      fault = damaged_checkpoint(opened_[placed.file].path, placed.block->offset);
    if (fault) miss(*placed.block, fault, !reader.damaged());
    meter_.add(placed.block->bytes);
  }

  // Nothing of the block was loaded, or it cannot be done without.
  void miss(const CheckpointBlock& block, const CheckpointFault& fault, bool untouched) {
    bool skippable =
        untouched && fault.is_of_the_disk() && restored_.pass() == RestoredRelations::Pass::user;
    if (!skippable || lost_ == nullptr) return fail(fault.words + (skippable ? skip_hint : ""));
    std::lock_guard lock(mutex_);
    lost_->push_back({.relation = block.relation,
                      .first_key = block.first_key,
                      .last_key = block.last_key,
                      .records = block.records,
                      .words = fault.words});
  }

  // The keys are nowhere yet, and come in their order.
  void insert_all(Thread& thread, CheckpointBlockReader& reader, Relation& relation,
                  TreeAppender& appender) {
    RecordAllocator& allocator = relation.records();
    CheckpointEntry entry;
    int64_t rows = 0;
    std::string_view last_key;
    while (reader.next(&entry)) {
      Record* fresh = allocator.create_filled(entry.key, entry.row, entry.tid, thread.handle);
      Record* existing = nullptr;
      try {
        existing = appender.append(fresh, thread.handle, thread.changes);
      } catch (...) {
        allocator.destroy(fresh, thread.handle);
        throw;
      }
      if (existing != nullptr) {
        allocator.destroy(fresh, thread.handle);
        fail("a checkpoint holds a key twice");
        return;
      }
      ++rows;
      last_key = entry.key;
    }
    if (last_key.size() == sizeof(uint64_t))
      relation.raise_row_id_floor(load_be64(last_key.data()));
    relation.add_rows(thread.handle.index(), rows);
    records_.fetch_add(static_cast<uint64_t>(rows), std::memory_order_relaxed);
  }

  FileSystem& files_;
  const std::vector<OpenedCheckpointFile>& opened_;
  const RestoredRelations& restored_;
  RelationDirectory& relations_;
  Reclaimer& reclaimer_;
  RecoveryMeter& meter_;
  std::vector<PlacedBlock> blocks_;
  std::vector<Share> shares_;
  std::atomic<uint64_t> records_{0};
  std::mutex mutex_;
  std::string why_;
  std::vector<LostBlock>* const lost_;  // guarded by mutex_
};

}  // namespace

bool load_checkpoint(FileSystem& files, const std::vector<OpenedCheckpointFile>& opened,
                     const RestoredRelations& restored, unsigned threads,
                     RelationDirectory& relations, Reclaimer& reclaimer, RecoveryMeter& meter,
                     uint64_t* records, std::vector<LostBlock>* lost, std::string* why) {
  return Loader(files, opened, restored, relations, reclaimer, meter, lost)
      .run(threads, records, why);
}

}  // namespace pgsilo
