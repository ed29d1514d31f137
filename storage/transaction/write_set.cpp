#include "storage/transaction/write_set.h"

#include <algorithm>

#include "base/append.h"
#include "base/check.h"

namespace pgsilo {

WriteEntry& WriteSet::add(WriteEntry* entry, Record* record, Relation& relation, bool base_absent,
                          std::string_view row, bool tombstone, CommandId command,
                          LockMode needed) {
  // Everything that can throw comes first.
  if (versions_.size() == versions_.capacity()) grow(versions_);
  auto* version = static_cast<PendingVersion*>(
      arena_.allocate(sizeof(PendingVersion), alignof(PendingVersion)));
  std::string_view copy = tombstone ? std::string_view() : arena_.copy_string(row);
  if (entry == nullptr) {
    index_.prepare(entries_.size(), record_at());
    append(entries_,
           WriteEntry{.record = record, .relation = &relation, .base_absent = base_absent});
    index_.add(record, static_cast<uint32_t>(entries_.size() - 1));
    entry = &entries_.back();
  }
  new (version)
      PendingVersion{entry->newest,
                     copy.data(),
                     static_cast<uint32_t>(copy.size()),
                     command,
                     static_cast<uint32_t>(entry - entries_.data()),
                     tombstone,
                     entry->newest == nullptr ? needed : std::max(entry->needed(), needed)};
  entry->newest = version;
  row_bytes_ += copy.size();
  append(versions_, version);
  return *entry;
}

void WriteSet::rollback_to(uint32_t mark) {
  while (versions_.size() > mark) {
    PendingVersion* version = versions_.back();
    versions_.pop_back();
    row_bytes_ -= version->row_bytes;
    entries_[version->entry].newest = version->older;
    if (version->older == nullptr) {
      // An entry is appended with its first version: those behind it are gone already.
      PGSILO_DCHECK(version->entry + 1 == entries_.size());
      entries_.pop_back();
    }
  }
  index_.truncate(entries_.size(), record_at());
}

const std::vector<uint32_t>& WriteSet::in_lock_order() {
  order_.resize(entries_.size());
  for (uint32_t i = 0; i < order_.size(); ++i) order_[i] = i;
  auto by_address = [this](uint32_t left, uint32_t right) {
    return entries_[left].record < entries_[right].record;
  };
  if (order_.size() > 1) std::sort(order_.begin(), order_.end(), by_address);
  return order_;
}

void WriteSet::clear() {
  constexpr size_t ordinary = 4096;
  if (versions_.capacity() > ordinary) {
    entries_ = {};
    versions_ = {};
    order_ = {};
  }
  if (!versions_.empty()) arena_.reset();
  entries_.clear();
  versions_.clear();
  index_.clear();
  row_bytes_ = 0;
}

}  // namespace pgsilo
