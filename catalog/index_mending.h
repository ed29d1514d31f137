// Makes the secondary indexes of a table agree with its rows where rows or entries have been lost
// (a start that leaves out damaged blocks of the checkpoint): entries that lead to no row, or to
// one that has others, go; those that rows lack come. Afterwards each row has exactly its entries
// (I9). In ordinary transactions of some rows each, logged like all: it may be cut short and begun
// again. Thread safety: start-up only, alone. Throws SqlError if the engine refuses (memory, disk).
#pragma once

#include <cstdint>
#include <string>

#include "catalog/descriptors.h"

namespace pgsilo {

class IndexEntries;
class Transaction;
class WorkerContext;
struct WaitSettings;

struct MendedIndex {
  uint64_t removed = 0;
  uint64_t added = 0;
};

class IndexMending {
 public:
  // References outlive the object.
  IndexMending(WorkerContext& worker, const WaitSettings& waits) : worker_(worker), waits_(waits) {}

  MendedIndex mend(const TableDescriptor& table, const IndexDescriptor& index,
                   IndexEntries& entries);

 private:
  template <typename Visit>
  void for_batches(Relation& relation, Visit visit);
  static bool leads_to_its_row(Transaction& transaction, const TableDescriptor& table,
                               IndexEntries& entries, std::string_view entry,
                               std::string_view primary_key);

  WorkerContext& worker_;
  const WaitSettings& waits_;
};

}  // namespace pgsilo
