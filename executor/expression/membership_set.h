// What x is looked up in by x IN (...), x = ANY (array) and (x, y) IN ((...), ...) with many
// elements, instead of being compared with each. Thread safety: immutable once filled; filling has
// one user.
#pragma once

#include <span>

#include "executor/operator/hash_table.h"

namespace pgsilo {

// Fewer are compared one by one, as in PostgreSQL (MIN_ARRAY_SIZE_FOR_HASHED_SAOP).
inline constexpr size_t least_hashed_members = 9;

class MembershipSet {
 public:
  // Of rows with columns of these types.
  explicit MembershipSet(std::span<const TypeInfo* const> types)
      : types_{{types.begin(), types.end()}} {}

  // What its values point to must stay. Throws MemoryLimitReached.
  void add(const Datum* row);
  // Each element is a row of one column.
  void add_elements(Datum array);
  // Whether a row is equal to this one: true, false or null as for OR of ANDs of comparisons.
  Datum contains(const Datum* row) const;
  // The same for a row of one column and an array that was not added.
  Datum is_among(Datum array, Datum value) const;
  void clear();
  size_t bytes_reserved() const {
    return complete_.bytes_reserved() + with_nulls_.bytes_reserved();
  }

 private:
  bool has_null(const Datum* row) const;
  bool may_equal(const Datum* left, const Datum* right) const;
  bool has_possible(const RowHashTable& rows, const Datum* row) const;

  KeyTypes types_;
  RowHashTable complete_{types_};
  RowHashTable with_nulls_{types_};
};

// A set that is filled when a run first needs it: its elements are the same for the whole run, but
// not known to the compiler. Of an array with few elements it keeps just the array.
class RunSet {
 public:
  explicit RunSet(std::span<const TypeInfo* const> types) : members_(types) {}

  bool is_known() const { return known_; }
  // Where what its elements point to has to be.
  Arena& memory() { return memory_; }
  void add(const Datum* row) { members_.add(row); }
  void add_array(Datum array);
  void filled() { known_ = true; }
  Datum contains(const Datum* row) const;
  // Empty and unknown again.
  void forget();

  Arena* around = nullptr;  // the evaluation's arena, while the set is filled

 private:
  enum class Content : uint8_t { hashed, few_elements, null_array };

  MembershipSet members_;
  Arena memory_{ArenaLimit::memory_limit};
  bool known_ = false;
  Content content_ = Content::hashed;
  Datum array_;
};

}  // namespace pgsilo
