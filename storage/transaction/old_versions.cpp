#include "storage/transaction/old_versions.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>

#include "base/check.h"

namespace pgsilo {

namespace {
constexpr size_t first_buckets = 16;
constexpr size_t crowd = 2;  // versions for each bucket
constexpr size_t growth = 4;

size_t memory_of(const OldVersion* version) { return sizeof(OldVersion) + version->capacity; }
}  // namespace

OldVersions::OldVersions() : shards_(std::make_unique<Shard[]>(shard_count)) {}

OldVersions::~OldVersions() {
  for (size_t i = 0; i < shard_count; ++i) sweep(i, Epoch(Tid::max_epoch), {}, 0);
}

uint64_t OldVersions::hash_of(const Record* record) {
  uint64_t bits = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(record)) >> 4;
  bits *= 0x9e3779b97f4a7c15u;  // Fibonacci hashing: the upper half is the mixed one
  return bits >> 24;
}

OldVersion*& OldVersions::Shard::bucket(uint64_t hash) {
  if (many == nullptr) return single;
  return many[hash / shard_count & (buckets.load(std::memory_order_relaxed) - 1)];
}

bool OldVersions::is_crowded(const Shard& shard) {
  return shard.versions.load(std::memory_order_relaxed) >=
         crowd * shard.buckets.load(std::memory_order_relaxed);
}

OldVersion* OldVersions::create(const Record* record, size_t capacity, unsigned thread_index) {
  Shard& shard = shard_of(hash_of(record));
  if (is_crowded(shard)) grow(shard);
  void* memory = std::malloc(sizeof(OldVersion) + capacity);
  if (memory == nullptr) throw std::bad_alloc();
  auto* version = new (memory) OldVersion;
  version->record = record;
  version->capacity = capacity;
  account_.add(thread_index, memory_of(version));
  return version;
}

void OldVersions::destroy(OldVersion* version, unsigned thread_index) {
  account_.subtract(thread_index, memory_of(version));
  std::free(version);
}

void OldVersions::add(OldVersion* version) {
  uint64_t hash = hash_of(version->record);
  Shard& shard = shard_of(hash);
  std::lock_guard lock(shard.latch);
  OldVersion*& first = shard.bucket(hash);
  version->next = first;
  first = version;
  shard.versions.store(shard.versions.load(std::memory_order_relaxed) + 1,
                       std::memory_order_relaxed);
}

const OldVersion* OldVersions::find(const Record* record, Epoch boundary) const {
  uint64_t hash = hash_of(record);
  Shard& shard = shard_of(hash);
  std::lock_guard lock(shard.latch);
  const OldVersion* version = shard.bucket(hash);
  while (version != nullptr && (version->record != record || !version->covers(boundary)))
    version = version->next;
  return version;
}

// A version of bucket b goes to b or to one behind it by a multiple of the old number.
void OldVersions::grow(Shard& shard) {
  size_t before = shard.buckets.load(std::memory_order_relaxed);
  size_t after = std::max(first_buckets, before * growth);
  std::unique_ptr<OldVersion*[]> fresh(new (std::nothrow) OldVersion*[after]());
  if (fresh == nullptr) return;  // longer lists will do
  std::lock_guard lock(shard.latch);
  if (shard.buckets.load(std::memory_order_relaxed) != before) return;
  OldVersion* single = shard.single;
  shard.single = nullptr;
  fresh.swap(shard.many);
  shard.buckets.store(after, std::memory_order_relaxed);
  for (size_t i = 0; i < before; ++i) {
    for (OldVersion* version = fresh != nullptr ? fresh[i] : single; version != nullptr;) {
      OldVersion* following = version->next;
      OldVersion*& first = shard.bucket(hash_of(version->record));
      version->next = first;
      first = version;
      version = following;
    }
  }
}

void OldVersions::shrink(Shard& shard) {
  std::unique_ptr<OldVersion*[]> freed;  // after the latch
  std::lock_guard lock(shard.latch);
  if (shard.versions.load(std::memory_order_relaxed) != 0) return;
  freed.swap(shard.many);
  shard.buckets.store(1, std::memory_order_relaxed);
}

// One bucket at a time, so that the latch is held for a moment. Those that a bucket gains by growth
// meanwhile come from buckets before it or lie behind it (grow()): none is missed.
void OldVersions::sweep(size_t shard, Epoch until, std::span<const Epoch> boundaries,
                        unsigned thread_index) {
  PGSILO_DCHECK(shard < shard_count);
  Shard& swept = shards_[shard];
  if (count(shard) == 0) return;
  for (size_t i = 0; i < swept.buckets.load(std::memory_order_relaxed); ++i) {
    for (OldVersion* version = take_needless(swept, i, until, boundaries); version != nullptr;) {
      OldVersion* following = version->next;
      destroy(version, thread_index);
      version = following;
    }
  }
  shrink(swept);
}

OldVersion* OldVersions::take_needless(Shard& shard, size_t bucket, Epoch until,
                                       std::span<const Epoch> boundaries) {
  OldVersion* needless = nullptr;
  size_t taken = 0;
  std::lock_guard lock(shard.latch);
  if (bucket >= shard.buckets.load(std::memory_order_relaxed)) return nullptr;  // shrunk
  OldVersion** link = shard.many != nullptr ? &shard.many[bucket] : &shard.single;
  while (OldVersion* version = *link) {
    auto covered = [version](Epoch boundary) { return version->covers(boundary); };
    if (version->replaced_in > until ||
        std::any_of(boundaries.begin(), boundaries.end(), covered)) {
      link = &version->next;
      continue;
    }
    *link = version->next;
    version->next = needless;
    needless = version;
    ++taken;
  }
  shard.versions.store(shard.versions.load(std::memory_order_relaxed) - taken,
                       std::memory_order_relaxed);
  return needless;
}

// One bucket at a time, as sweep() does.
std::vector<OldVersions::Kept> OldVersions::kept_for(std::span<const Epoch> boundaries) const {
  std::vector<Kept> kept(boundaries.size());
  for (size_t at = 0; at < shard_count; ++at) {
    const Shard& shard = shards_[at];
    if (count(at) == 0) continue;
    for (size_t i = 0; i < shard.buckets.load(std::memory_order_relaxed); ++i) {
      std::lock_guard lock(shard.latch);
      if (i >= shard.buckets.load(std::memory_order_relaxed)) break;  // shrunk
      const OldVersion* version = shard.many != nullptr ? shard.many[i] : shard.single;
      for (; version != nullptr; version = version->next) {
        for (size_t j = 0; j < boundaries.size(); ++j) {
          if (!version->covers(boundaries[j])) continue;
          ++kept[j].versions;
          kept[j].bytes += memory_of(version);
        }
      }
    }
  }
  return kept;
}

size_t OldVersions::count() const {
  size_t sum = 0;
  for (size_t i = 0; i < shard_count; ++i) sum += count(i);
  return sum;
}

}  // namespace pgsilo
