// How a transaction reads a row, and what it gets. Thread safety: values.
#pragma once

#include <cstdint>
#include <string_view>

#include "storage/record/record.h"
#include "storage/record/tid_word.h"
#include "storage/transaction/record_lock.h"

namespace pgsilo {

class Relation;

enum class ReadPurpose : uint8_t {
  plain,
  for_update,   // interactive: takes the record's intent lock before it reads (UPDATE, DELETE,
                // SELECT FOR UPDATE/SHARE by key)
  conflicting,  // as for_update, of what an insert has met (ON CONFLICT): that it has gone is no
                // answer; self_modified if the running statement has written it
  passing,      // plain, but not registered: only what lock_row() then locks is (SKIP LOCKED)
  rows,         // a scan's: the rows it delivers are registered, not that there are no others
  existence,    // only that there is a row matters: other versions of it do not disturb
  referenced,   // as existence, and it must stay until the commit (foreign keys). Own writes of the
                // running statement count. Interactive: takes the intent lock; a one-shot waits for
                // who has locked the row against that
  peek,         // neither locked nor validated, own writes of this statement included: what follows
                // must find out
};

// How much of a record's intent lock a reader takes, and whether it waits for that.
struct RowLock {
  LockMode mode = LockMode::update;
  WaitPolicy policy = WaitPolicy::wait;
  bool is_cautious = false;  // LockTable::let_go_of_cautious()
};

// A version of a record of the catalog.
struct CatalogVersion {
  const Record* record = nullptr;
  Tid tid;
};

// A row as a statement saw it.
struct RowRef {
  static constexpr uint32_t not_registered = UINT32_MAX;
  Relation* relation = nullptr;
  Record* record = nullptr;  // null: the key has no record; what follows is empty
  std::string_view row;      // in the caller's buffer, or (own write) in the transaction
  Tid tid;                   // of the version seen; of the base version for an own write
  uint32_t read_index = not_registered;
  std::string_view key() const { return record->key(); }
};

}  // namespace pgsilo
