#include "storage/transaction/write_set.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/append.h"
#include "base/check.h"
#include "base/parker.h"

namespace pgsilo {

namespace {
// The memory of a giant set that is empty, or about to be.
void give_back(std::vector<WriteEntry>& entries, std::vector<PendingVersion*>& versions,
               std::vector<uint32_t>& order) {
  constexpr size_t ordinary = 4096;
  if (versions.capacity() <= ordinary) return;
  free_memory(entries);
  free_memory(versions);
  free_memory(order);
}
}  // namespace

[[gnu::always_inline]] inline WriteEntry& WriteSet::add_entry(Record* record, Relation& relation,
                                                              bool base_absent) {
  const size_t count = entries_.size();
  index_.prepare(count, record_at());
  if (count == entries_.capacity()) [[unlikely]]
    grow(entries_);
  if (count == entries_.capacity()) __builtin_unreachable();  // as in append()
  WriteEntry& entry = entries_.emplace_back(record, &relation);
  entry.base_absent = base_absent;
  index_.add(record, static_cast<uint32_t>(count));
  filter_.add(record);
  return entry;
}

WriteEntry& WriteSet::add(WriteEntry* entry, Record* record, Relation& relation, bool base_absent,
                          std::string_view row, bool tombstone, CommandId command,
                          LockMode needed) {
  // Everything that can throw comes first.
  if (versions_.size() == versions_.capacity()) grow(versions_);
  if (tombstone) row = {};
  // The row lies behind its version.
  auto* memory = static_cast<char*>(
      arena_.allocate(sizeof(PendingVersion) + row.size(), alignof(PendingVersion)));
  if (entry == nullptr) {
    entry = &add_entry(record, relation, base_absent);
  } else {
    needed = std::max(entry->needed(), needed);
  }
  char* copy = memory + sizeof(PendingVersion);
  if (!row.empty()) std::memcpy(copy, row.data(), row.size());
  auto position = static_cast<uint32_t>(entry - entries_.data());
  auto bytes = static_cast<uint32_t>(row.size());
  entry->newest =
      new (memory) PendingVersion{entry->newest, copy, bytes, command, position, tombstone, needed};
  row_bytes_ += row.size();
  append(versions_, entry->newest);
  return *entry;
}

const PatchedRow* WriteSet::copy_patches(Tid base, std::span<const RowPatch> patches) {
  const PatchedRow* copy = PatchedRow::make(arena_, base, patches);
  row_bytes_ += sizeof(PatchedRow) + patches.size_bytes();
  for (const RowPatch& patch : patches)
    if (patch.kind == RowPatch::Kind::set) row_bytes_ += patch.range.bytes;
  return copy;
}

void WriteSet::rollback_to(uint32_t mark) {
  size_t stay = entries_.size();
  while (versions_.size() > mark) {
    PendingVersion* version = versions_.back();
    versions_.pop_back();
    row_bytes_ -= version->row_bytes;
    entries_[version->entry].newest = version->older;
    if (version->older != nullptr) continue;
    // An entry is appended with its first version: those behind it go, too.
    --stay;
    PGSILO_DCHECK(version->entry == stay);
  }
  index_.truncate(entries_.size(), stay, record_at());
  if (stay == 0) filter_.clear();
  entries_.erase(entries_.begin() + static_cast<ptrdiff_t>(stay), entries_.end());
  if (versions_.empty()) give_back(entries_, versions_, order_);
}

const std::vector<uint32_t>& WriteSet::in_lock_order(Parker* parker) {
  order_.resize(entries_.size());
  for (uint32_t i = 0; i < order_.size(); ++i) order_[i] = i;
  for (size_t at = 0; at < order_.size(); at += piece) {
    auto first = order_.begin() + static_cast<ptrdiff_t>(at);
    auto last = order_.begin() + static_cast<ptrdiff_t>(std::min(at + piece, order_.size()));
    if (last - first > 1) {
      std::sort(first, last, [this](uint32_t a, uint32_t b) { return locked_before(a, b); });
    }
    if (parker != nullptr && order_.size() > piece) parker->give_way();
  }
  for (size_t run = piece; run < order_.size(); run *= 2) merge_runs(run, parker);
  return order_;
}

// Makes sorted runs of twice the length, giving way between pieces.
void WriteSet::merge_runs(size_t run, Parker* parker) {
  std::vector<uint32_t> merged;
  merged.reserve(order_.size());
  for (size_t at = 0; at < order_.size(); at += 2 * run) {
    size_t left = at, middle = std::min(at + run, order_.size());
    size_t right = middle, end = std::min(at + 2 * run, order_.size());
    while (left < middle || right < end) {
      bool from_left =
          right == end || (left < middle && !locked_before(order_[right], order_[left]));
      merged.push_back(order_[from_left ? left++ : right++]);
      if (parker != nullptr && merged.size() % piece == 0) parker->give_way();
    }
  }
  order_.swap(merged);
}

void WriteSet::forget() {
  arena_.reset();
  give_back(entries_, versions_, order_);
  entries_.clear();
  versions_.clear();
  index_.clear();
  filter_.clear();
  row_bytes_ = 0;
}

}  // namespace pgsilo
