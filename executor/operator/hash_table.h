// Rows chained by the hash of their keys: for hash joins, grouping, set operations and hashed
// subplans. Keys are the first columns of each row's Datums. Thread safety: none; one operator.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/append.h"
#include "base/arena.h"
#include "base/memory_budget.h"
#include "sql/types/type.h"

namespace pgsilo {

// How keys of known types hash and compare. NULLs are equal to each other here; joins never look
// NULLs up.
struct KeyTypes {
  std::vector<const TypeInfo*> types;
  // Keys that are equal but not the same (1.0 and 1.00, 1 month and 30 days) differ.
  bool by_bits = false;

  uint64_t hash(const Datum* keys) const {
    uint64_t result = 0;
    for (size_t i = 0; i < types.size(); ++i) {
      uint64_t part = keys[i].null ? 0x9e3779b97f4a7c15u : types[i]->hash(keys[i]);
      result = (result ^ part) * 0x9fb21c651e98df25u;
      result ^= result >> 32;
    }
    return result;
  }
  bool equal(const Datum* left, const Datum* right) const {
    for (size_t i = 0; i < types.size(); ++i) {
      if (left[i].null || right[i].null) {
        if (left[i].null != right[i].null) return false;
      } else if (by_bits ? !are_same(*types[i], left[i], right[i])
                         : !types[i]->equal(left[i], right[i])) {
        return false;
      }
    }
    return true;
  }
  static bool are_same(const TypeInfo& type, const Datum& left, const Datum& right) {
    return type.by_reference ? left.bytes() == right.bytes() : left.i64 == right.i64;
  }
  // As SQL's row comparison: not false. A NULL may be equal to anything.
  bool may_be_equal(const Datum* left, const Datum* right) const {
    for (size_t i = 0; i < types.size(); ++i) {
      if (!left[i].null && !right[i].null && !types[i]->equal(left[i], right[i])) return false;
    }
    return true;
  }
};

struct HashedRow {
  HashedRow* next;
  uint64_t hash;
  bool matched;  // right and full joins
  Datum* values() { return reinterpret_cast<Datum*>(this + 1); }
};

class RowHashTable {
 public:
  explicit RowHashTable(const KeyTypes& types) : types_(types) {}

  // The first row with these keys, or null; next_match() gives the others.
  HashedRow* find(const Datum* keys, uint64_t hash) const {
    if (count_ == 0) return nullptr;
    return match(buckets_[hash & (buckets_.size() - 1)], keys, hash);
  }
  HashedRow* next_match(HashedRow* row, const Datum* keys) const {
    return match(row->next, keys, row->hash);
  }
  // A row with room for `datums` Datums, of which the caller fills in all. Throws
  // MemoryLimitReached.
  HashedRow* add(uint64_t hash, size_t datums) {
    if (count_ >= buckets_.size()) grow();
    auto* row = static_cast<HashedRow*>(
        arena_.allocate(sizeof(HashedRow) + datums * sizeof(Datum), alignof(Datum)));
    HashedRow*& head = buckets_[hash & (buckets_.size() - 1)];
    *row = {head, hash, false};
    head = row;
    ++count_;
    return row;
  }
  Arena& arena() { return arena_; }
  size_t size() const { return count_; }
  size_t bytes_reserved() const {
    return arena_.bytes_reserved() + buckets_.capacity() * sizeof(HashedRow*);
  }
  std::span<HashedRow* const> buckets() const { return buckets_; }
  void clear() {
    if (buckets_.size() > largest_kept) {
      free_memory(buckets_);
    } else {
      buckets_.assign(buckets_.size(), nullptr);
    }
    count_ = 0;
    if (arena_.bytes_reserved() != 0) arena_.reset();
  }

 private:
  static constexpr size_t largest_kept = 4096;
  HashedRow* match(HashedRow* row, const Datum* keys, uint64_t hash) const {
    while (row != nullptr && (row->hash != hash || !types_.equal(row->values(), keys)))
      row = row->next;
    return row;
  }
  void grow() {
    size_t size = buckets_.empty() ? 16 : buckets_.size() * 2;
    if (size > Arena::free_block_bytes / sizeof(HashedRow*))
      require_room(size * sizeof(HashedRow*));
    std::vector<HashedRow*> old(size, nullptr);
    old.swap(buckets_);
    for (HashedRow* row : old) {
      while (row != nullptr) {
        HashedRow* next = row->next;
        HashedRow*& head = buckets_[row->hash & (buckets_.size() - 1)];
        row->next = head;
        head = row;
        row = next;
      }
    }
  }

  const KeyTypes& types_;
  std::vector<HashedRow*> buckets_;
  size_t count_ = 0;
  Arena arena_{ArenaLimit::memory_limit};
};

}  // namespace pgsilo
