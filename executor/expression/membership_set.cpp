#include "executor/expression/membership_set.h"

#include <algorithm>

#include "base/long_work.h"
#include "sql/types/array.h"

namespace pgsilo {

bool MembershipSet::has_null(const Datum* row) const {
  return std::any_of(row, row + types_.types.size(), [](const Datum& each) { return each.null; });
}

void MembershipSet::add(const Datum* row) {
  constexpr size_t row_work = 512;
  did_work(row_work);
  RowHashTable& rows = has_null(row) ? with_nulls_ : complete_;
  uint64_t hash = types_.hash(row);
  if (rows.find(row, hash) != nullptr) return;
  std::copy_n(row, types_.types.size(), rows.add(hash, types_.types.size())->values());
}

void MembershipSet::add_elements(Datum array) {
  ArrayReader reader(array);
  for (Datum element; reader.next(&element);) add(&element);
}

// No column differs: their comparison is true or, for NULLs, null.
bool MembershipSet::may_equal(const Datum* left, const Datum* right) const {
  for (size_t i = 0; i < types_.types.size(); ++i) {
    if (!left[i].null && !right[i].null && !types_.types[i]->equal(left[i], right[i])) return false;
  }
  return true;
}

bool MembershipSet::has_possible(const RowHashTable& rows, const Datum* row) const {
  if (rows.size() == 0) return false;  // buckets of an earlier run may be there
  for (HashedRow* each : rows.buckets()) {
    for (; each != nullptr; each = each->next) {
      if (may_equal(each->values(), row)) return true;
    }
  }
  return false;
}

Datum MembershipSet::contains(const Datum* row) const {
  bool incomplete = has_null(row);
  if (!incomplete && complete_.find(row, types_.hash(row)) != nullptr) return Datum::of_bool(true);
  if (has_possible(with_nulls_, row) || (incomplete && has_possible(complete_, row)))
    return Datum();
  return Datum::of_bool(false);
}

void MembershipSet::clear() {
  complete_.clear();
  with_nulls_.clear();
}

void RunSet::add_array(Datum array) {
  if (array.null) {
    content_ = Content::null_array;
  } else if (ArrayReader(array).count() < least_hashed_members) {
    content_ = Content::few_elements;
    array_ = array;
  } else {
    members_.add_elements(array);
  }
}

// One by one, as the types say that are compared; the array may be of others that hash alike.
Datum MembershipSet::is_among(Datum array, Datum value) const {
  ArrayReader reader(array);
  bool unknown = false;
  for (Datum element; reader.next(&element);) {
    if (element.null || value.null) {
      unknown = true;
    } else if (types_.types.front()->equal(element, value)) {
      return Datum::of_bool(true);
    }
  }
  return unknown ? Datum() : Datum::of_bool(false);
}

Datum RunSet::contains(const Datum* row) const {
  switch (content_) {
    case Content::hashed:
      return members_.contains(row);
    case Content::few_elements:
      return members_.is_among(array_, *row);
    case Content::null_array:
      return Datum();
  }
  __builtin_unreachable();
}

void RunSet::forget() {
  members_.clear();
  if (memory_.bytes_reserved() != 0) memory_.reset();
  known_ = false;
  content_ = Content::hashed;
}

}  // namespace pgsilo
