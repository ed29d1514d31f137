#include "storage/transaction/transaction_scan.h"

#include "storage/relation/relation.h"
#include "storage/transaction/read_base.h"
#include "storage/transaction/transaction_guard.h"

namespace pgsilo {

void TransactionScan::Registrar::observe(NodeRef node) {
  if (transaction_->snapshot_ != nullptr) return;  // it reads, or goes on at, one
  if (!transaction_->nodes_.add(node)) conflict_ = true;
}

// Nothing else tells: the node that answers for its keys was registered before.
void TransactionScan::Registrar::miss_layer() {
  if (transaction_->snapshot_ == nullptr) transaction_->nodes_.meet_removal();
}

TransactionScan::TransactionScan(Transaction& transaction, Relation& relation,
                                 const KeyRange& range, ScanDirection direction, RowBuffer& buffer,
                                 ReadPurpose purpose)
    : transaction_(transaction),
      relation_(relation),
      buffer_(buffer),
      command_(transaction.command()),
      registers_(purpose != ReadPurpose::passing && transaction.registers(relation)),
      registers_nodes_(registers_ && purpose != ReadPurpose::rows),
      registrar_(&transaction),
      cursor_(relation.tree(), range, direction, registers_nodes_ ? &registrar_ : nullptr) {}

TransactionStatus TransactionScan::next(RowRef* row) {
  return guarded(transaction_.worker_, [&] { return next_or_throw(row); });
}

TransactionStatus TransactionScan::next_or_throw(RowRef* row) {
  for (;;) {
    Record* record = cursor_.next();  // may throw; the scan can be resumed
    if (registrar_.conflict()) return TransactionStatus::conflict_node;
    if (record == nullptr) return TransactionStatus::not_found;
    TransactionStatus status = TransactionStatus::not_found;
    if (transaction_.reads_past(relation_, ReadPurpose::plain)) [[unlikely]] {
      status = transaction_.read_snapshot(relation_, record, buffer_, row, command_);
      if (status != TransactionStatus::not_found) return status;
      continue;
    }
    WriteEntry* entry = transaction_.own_write(record);
    const PendingVersion* version =
        entry == nullptr ? nullptr : Transaction::visible_version(*entry, command_);
    if (version != nullptr) {
      status = Transaction::own_row(relation_, record, *version, row);
    } else {
      size_t known = transaction_.reads_.size();
      status = transaction_.read_base(relation_, record, buffer_, row, command_, registers_);
      if (status == TransactionStatus::not_found && registers_nodes_ &&
          transaction_.reads_.size() != known)
        transaction_.reads_.guard(static_cast<uint32_t>(known));
    }
    if (status == TransactionStatus::ok) return status;
    if (status == TransactionStatus::not_found) continue;
    if (status != TransactionStatus::conflict_record) return status;
    // Obsolete: the key has gone since the node was copied. If it comes again, the node tells.
    transaction_.help_unhook(relation_, record);
    transaction_.nodes_.meet_removal();
  }
}

}  // namespace pgsilo
