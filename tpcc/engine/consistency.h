// The consistency conditions of TPC-C (clause 3.3.2) and, of the engine, that every row has exactly
// its secondary entries. Thread safety: nothing else writes meanwhile.
#pragma once

#include <string>
#include <vector>

#include "storage/transaction/transaction.h"
#include "tpcc/engine/schema.h"

namespace pgsilo::tpcc {

// What is broken, in words; empty: consistent. Reads everything in one transaction. Conditions 1 to
// 10 and 12; the eleventh speaks of a database in which no order was entered yet.
std::vector<std::string> check_consistency(Transaction& transaction, Tables& tables,
                                           const Scale& scale);

}  // namespace pgsilo::tpcc
