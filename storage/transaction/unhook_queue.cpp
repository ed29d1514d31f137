#include "storage/transaction/unhook_queue.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/check.h"
#include "storage/relation/relation.h"
#include "storage/relation/relation_directory.h"

namespace pgsilo {

namespace {

void unhook_obsolete(Relation& relation, Record* record, ReclaimerHandle& handle) {
  // Who takes it out retires it: the one who marked it, or one who met it in between and helps.
  Removal removal = relation.tree().remove(record, handle);
  if (removal == Removal::not_there) return;
  relation.records().retire(record, handle);
  if (removal == Removal::left_sparse) relation.tree().merge(record->key(), handle);
}

}  // namespace

UnhookResult unhook_absent(Relation& relation, Record* record, Tid tid, ReclaimerHandle& handle) {
  TidWord seen = record->tid_word().load();
  if (!seen.is_absent() && !seen.is_obsolete()) return UnhookResult::adopted;  // what most are
  if (!record->tid_word().try_lock(LockPurpose::update, seen)) {
    if (!seen.is_obsolete()) return UnhookResult::busy;
    unhook_obsolete(relation, record, handle);
    return UnhookResult::unhooked;
  }
  if (!seen.is_absent() || seen.tid() != tid || seen.has_intent()) {
    record->tid_word().unlock();
    return seen.is_absent() && seen.tid() == tid ? UnhookResult::busy : UnhookResult::adopted;
  }
  // An intent raised from here on finds the record obsolete when its owner reads it.
  record->tid_word().unlock_obsolete();
  unhook_obsolete(relation, record, handle);
  return UnhookResult::unhooked;
}

void UnhookQueue::reserve(size_t count, size_t key_bytes) {
  if (count == 0) return;
  size_t needed = count * (sizeof(Item) + 8) + key_bytes;
  if (!chunks_.empty() && chunks_[filling_].capacity - chunks_[filling_].end >= needed) return;
  // The unused rest of the present chunk is given up.
  size_t capacity = std::max(chunk_bytes, needed);
  chunks_.push_back({std::make_unique_for_overwrite<char[]>(capacity), capacity});
  filling_ = chunks_.size() - 1;
}

void UnhookQueue::push(RelationId relation, const Record* record, std::string_view key, Tid tid) {
  Chunk& chunk = chunks_[filling_];
  size_t bytes = item_bytes(key.size());
  PGSILO_CHECK(chunk.capacity - chunk.end >= bytes);
  auto* item = new (chunk.bytes.get() + chunk.end)
      Item{record, tid, relation, static_cast<uint32_t>(key.size())};
  std::memcpy(static_cast<void*>(item + 1), key.data(), key.size());
  chunk.end += bytes;
  ++size_;
}

void UnhookQueue::pop_front() {
  Chunk& chunk = chunks_.front();
  chunk.begin += item_bytes(reinterpret_cast<Item*>(chunk.bytes.get() + chunk.begin)->key_bytes);
  --size_;
  if (chunk.begin < chunk.end) return;
  if (filling_ == 0) {
    chunk.begin = chunk.end = 0;  // the only chunk with items: used again
    return;
  }
  chunks_.pop_front();
  --filling_;
}

UnhookResult UnhookQueue::try_item(const Item& item, const RelationDirectory& relations,
                                   ReclaimerHandle& handle) {
  Relation* relation = relations.find(item.relation);
  if (relation == nullptr) return UnhookResult::adopted;
  Record* record = relation->tree().get(item.key()).record;
  if (record == nullptr || record != item.record) return UnhookResult::adopted;
  return unhook_absent(*relation, record, item.tid, handle);
}

bool UnhookQueue::ready(Epoch settled) const {
  for (const Chunk& chunk : chunks_) {
    if (chunk.begin == chunk.end) continue;  // given up while empty
    return reinterpret_cast<const Item*>(chunk.bytes.get() + chunk.begin)->tid.epoch() <= settled;
  }
  return false;
}

size_t UnhookQueue::run(const RelationDirectory& relations, Epoch settled, ReclaimerHandle& handle,
                        size_t budget) {
  size_t gone = 0;
  for (size_t left = std::min(budget, size_); left != 0 && ready(settled); --left) {
    while (chunks_.front().begin == chunks_.front().end) {
      chunks_.pop_front();
      --filling_;
    }
    auto* item = reinterpret_cast<Item*>(chunks_.front().bytes.get() + chunks_.front().begin);
    if (try_item(*item, relations, handle) == UnhookResult::busy) {
      reserve(1, item->key_bytes);  // may throw: then the item stays
      item = reinterpret_cast<Item*>(chunks_.front().bytes.get() + chunks_.front().begin);
      push(item->relation, item->record, item->key(), item->tid);
    } else {
      ++gone;
    }
    pop_front();
  }
  return gone;
}

}  // namespace pgsilo
