#include "storage/relation/relation_directory.h"

#include <algorithm>

#include "base/check.h"

namespace pgsilo {

// On its way through the reclaimer.
struct RelationDirectory::Dropped {
  RelationDirectory* directory;
  std::list<std::unique_ptr<Relation>> relation;  // one; moves into freeable_ without an allocation
};

RelationDirectory::RelationDirectory() = default;

RelationDirectory::~RelationDirectory() {
  for (std::atomic<Middle*>& top : top_) {
    Middle* middle = top.load(std::memory_order_relaxed);
    if (middle == nullptr) continue;
    for (std::atomic<Leaf*>& leaf : middle->leaves) delete leaf.load(std::memory_order_relaxed);
    delete middle;
  }
}

Relation* RelationDirectory::find(RelationId id) const {
  uint32_t value = id.value();
  // Acquire, thrice: what a pointer leads to was initialised before it was stored.
  Middle* middle = top_[value >> (leaf_bits + middle_bits)].load(std::memory_order_acquire);
  if (middle == nullptr) return nullptr;
  Leaf* leaf = middle->leaves[(value >> leaf_bits) & ((1u << middle_bits) - 1)].load(
      std::memory_order_acquire);
  if (leaf == nullptr) return nullptr;
  return leaf->relations[value & ((1u << leaf_bits) - 1)].load(std::memory_order_acquire);
}

std::atomic<Relation*>& RelationDirectory::cell(RelationId id) {
  uint32_t value = id.value();
  std::atomic<Middle*>& top = top_[value >> (leaf_bits + middle_bits)];
  if (top.load(std::memory_order_relaxed) == nullptr)
    top.store(new Middle, std::memory_order_release);
  std::atomic<Leaf*>& leaf =
      top.load(std::memory_order_relaxed)->leaves[(value >> leaf_bits) & ((1u << middle_bits) - 1)];
  if (leaf.load(std::memory_order_relaxed) == nullptr)
    leaf.store(new Leaf, std::memory_order_release);
  return leaf.load(std::memory_order_relaxed)->relations[value & ((1u << leaf_bits) - 1)];
}

Relation& RelationDirectory::create_locked(RelationId id, RelationOptions options,
                                           bool is_private) {
  auto relation = std::make_unique<Relation>(id, options, is_private);
  std::atomic<Relation*>& place = cell(id);
  Relation& created = *relation;
  relations_.emplace(id, std::move(relation));
  place.store(&created, std::memory_order_release);  // pairs with find()
  return created;
}

Relation& RelationDirectory::create(RelationOptions options, bool is_private) {
  std::lock_guard lock(mutex_);
  PGSILO_CHECK(last_id_ != UINT32_MAX);
  Relation& created = create_locked(RelationId(last_id_ + 1), options, is_private);
  ++last_id_;
  return created;
}

Relation& RelationDirectory::get_or_create(RelationId id, RelationOptions options) {
  if (Relation* known = find(id)) return *known;
  std::lock_guard lock(mutex_);
  if (Relation* known = find(id)) return *known;
  Relation& created = create_locked(id, options, /*is_private=*/false);
  last_id_ = std::max(last_id_, id.value());
  return created;
}

void RelationDirectory::raise_id_floor(RelationId id) {
  std::lock_guard lock(mutex_);
  last_id_ = std::max(last_id_, id.value());
}

RelationId RelationDirectory::id_floor() const {
  std::lock_guard lock(mutex_);
  return RelationId(last_id_);
}

void RelationDirectory::drop(RelationId id, ReclaimerHandle& handle) {
  auto dropped = std::make_unique<Dropped>();
  dropped->directory = this;
  dropped->relation.emplace_back();
  handle.reserve(1);  // nothing fails once it is out of the directory
  {
    std::lock_guard lock(mutex_);
    auto found = relations_.find(id);
    if (found == relations_.end()) return;
    dropped->relation.front() = std::move(found->second);
    relations_.erase(found);
    cell(id).store(nullptr, std::memory_order_release);
  }
  // Its tree's account is in no list any more, so its bytes count as the reclaimer's.
  size_t bytes = dropped->relation.front()->memory_bytes();
  handle.retire(dropped.release(), &became_unreachable, bytes);
}

void RelationDirectory::became_unreachable(void* object) {
  std::unique_ptr<Dropped> dropped(static_cast<Dropped*>(object));
  std::lock_guard lock(dropped->directory->mutex_);
  dropped->directory->freeable_.splice(dropped->directory->freeable_.end(), dropped->relation);
  dropped->directory->has_freeable_.store(true, std::memory_order_relaxed);
}

bool RelationDirectory::reclaim_one(size_t records, ReclaimerHandle& handle) {
  std::list<std::unique_ptr<Relation>> relation;
  {
    std::lock_guard lock(mutex_);
    if (freeable_.empty()) return false;  // another worker has the last one in its hands
    relation.splice(relation.end(), freeable_, freeable_.begin());
  }
  bool emptied = false;
  bool out_of_memory = false;
  try {
    emptied = relation.front()->tree().dismantle(records, handle);
  } catch (const std::bad_alloc&) {
    out_of_memory = true;  // a later call tries again
  }
  if (emptied) relation.clear();
  std::lock_guard lock(mutex_);
  if (!emptied) {
    freeable_.splice(freeable_.begin(), relation);
    has_freeable_.store(true, std::memory_order_relaxed);
    return !out_of_memory;
  }
  has_freeable_.store(!freeable_.empty(), std::memory_order_relaxed);
  return !freeable_.empty();
}

std::vector<Relation*> RelationDirectory::list() const {
  std::lock_guard lock(mutex_);
  std::vector<Relation*> all;
  all.reserve(relations_.size());
  for (const auto& [id, relation] : relations_) all.push_back(relation.get());
  return all;
}

size_t RelationDirectory::dropped_count() const {
  std::lock_guard lock(mutex_);
  return freeable_.size();
}

}  // namespace pgsilo
