// Walks the rows of a relation that a statement sees, in key order or against it.
//
//   TransactionScan scan(transaction, relation, range, ScanDirection::forward, buffer);
//   while ((status = scan.next(&row)) == TransactionStatus::ok) ...     // ends with not_found
//
// Registers every node it crosses and every record it meets, absent ones too (I6); at a snapshot
// none. Sees the
// transaction's writes of earlier commands, not those of the running one. A row's bytes are valid
// until the next call; its key as long as the transaction. The caller may write, yield and run
// other statements between calls. Thread safety: its transaction's fiber. It may outlive no change
// of the transaction (commit, abort, begin).
#pragma once

#include "storage/index/scan_cursor.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

class TransactionScan {
 public:
  // The bounds' bytes and `buffer` outlive the scan. `purpose`: plain; rows, which registers no
  // node; or passing, which registers nothing.
  TransactionScan(Transaction& transaction, Relation& relation, const KeyRange& range,
                  ScanDirection direction, RowBuffer& buffer,
                  ReadPurpose purpose = ReadPurpose::plain);

  // ok, not_found at the end, or a conflict, out_of_memory, cancelled.
  TransactionStatus next(RowRef* row);
  // Of a secondary tree, whose entries are followed: fetches a row that one of the next leads to.
  void prefetch_followed() const {
    constexpr int distance = 2;
    const Record* entry = cursor_.upcoming(distance);
    if (entry != nullptr) entry->prefetch_link();
  }

 private:
  class Registrar final : public NodeObserver {
   public:
    explicit Registrar(Transaction* transaction) : transaction_(transaction) {}
    void observe(NodeRef node) override;
    void miss_layer() override;
    bool conflict() const { return conflict_; }

   private:
    Transaction* transaction_;
    bool conflict_ = false;
  };
  TransactionStatus next_or_throw(RowRef* row);

  Transaction& transaction_;
  Relation& relation_;
  RowBuffer& buffer_;
  const CommandId command_;
  const bool registers_;        // records
  const bool registers_nodes_;  // as well
  Registrar registrar_;
  ScanCursor cursor_;
};

}  // namespace pgsilo
