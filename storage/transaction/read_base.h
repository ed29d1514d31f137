// Reading what was committed: the innermost step of reads by key and of scans, compiled into both.
// Internal to storage/transaction.
#pragma once

#include "storage/relation/relation.h"
#include "storage/transaction/commit_wait.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

inline bool Transaction::reads_past(const Relation& relation, ReadPurpose purpose) const {
  return snapshot_ != nullptr && !relation.is_private() &&
         (mode_ == TransactionMode::snapshot || purpose == ReadPurpose::plain ||
          purpose == ReadPurpose::rows || purpose == ReadPurpose::passing);
}

// conflict_record if the record is obsolete.
inline TransactionStatus Transaction::read_base(Relation& relation, Record* record,
                                                RowBuffer& buffer, RowRef* row, CommandId command,
                                                bool registered) {
  TidWord word;
  TransactionStatus status = stable_read(*record, buffer, settings_, &word);
  if (status != TransactionStatus::ok) [[unlikely]]
    return status;
  if (word.is_obsolete()) return TransactionStatus::conflict_record;
  // Private rows come and go with this transaction: what is told of them rests on nothing else.
  if (!relation.is_private()) note_version(word.tid());
  uint32_t index = RowRef::not_registered;
  if (registered) index = reads_.add(record, word, ReadKind::version);
  if (word.is_absent() || (relation.is_private() && !private_rows_.sees(command, word))) {
    *row = {};
    return TransactionStatus::not_found;
  }
  *row = {&relation, record, buffer.bytes(), word.tid(), index};
  return TransactionStatus::ok;
}

}  // namespace pgsilo
