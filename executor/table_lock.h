// The lock of a table that a statement takes for what it does with the table. Internal to
// executor/. Thread safety: none; one transaction.
#pragma once

#include "planner/bound/table_use.h"
#include "storage/transaction/abort_reason.h"

namespace pgsilo {

class Transaction;
struct TableDescriptor;

// Gains it. conflict_record: whoever had it before has changed the table. What is read then in the
// trees that the descriptor names may be of the past, and nothing else would tell.
TransactionStatus lock_table(Transaction& transaction, const TableDescriptor& table, TableUse use);

}  // namespace pgsilo
