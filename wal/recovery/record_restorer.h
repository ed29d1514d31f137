// Restores one entry after the other into the trees: one per replay thread.
// Thread safety: one owner; several restorers may work on the same relations at once.
// Invariant: afterwards a key's record has the largest TID that any restorer was given for it.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "storage/epoch/reclaimer.h"
#include "storage/index/node_changes.h"
#include "storage/record/tid_word.h"
#include "storage/transaction/redo_sink.h"

namespace pgsilo {

class Record;
class Relation;
class RelationDirectory;
class RestoredRelations;

struct TimedEntry {
  Tid tid;
  RedoEntry entry;
};

class RecordRestorer {
 public:
  // Restores what `restored` contains, and nothing else.
  RecordRestorer(const RestoredRelations& restored, RelationDirectory& relations,
                 Reclaimer& reclaimer)
      : restored_(restored), relations_(relations), handle_(reclaimer) {}

  ReclaimerHandle& handle() { return handle_; }
  // Under a pin of handle(). Throws std::bad_alloc. Several at once are faster: the keys' paths are
  // fetched together. At most IndexTree::max_lookups.
  void restore(std::span<const TimedEntry> entries);
  void restore(Tid tid, const RedoEntry& entry);
  // All restorers are done: takes the tombstones this one made out of the trees, and tells
  // relations how large hidden row ids were.
  void finish();

 private:
  struct Known {
    Relation* relation = nullptr;  // null: not to be restored
    uint64_t largest_row_id = 0;
  };
  struct Tombstone {
    Relation* relation;
    Record* record;
    Tid tid;
  };
  Known& known(RelationId id);
  void overwrite(Relation& relation, Record* record, Tid tid, const RedoEntry& entry);

  const RestoredRelations& restored_;
  RelationDirectory& relations_;
  ReclaimerHandle handle_;
  std::unordered_map<uint32_t, Known> known_;
  RelationId last_id_;
  Known* last_ = nullptr;
  std::vector<Tombstone> tombstones_;
  NodeChanges changes_;
};

}  // namespace pgsilo
