// Makes the secondary indexes of a table agree with its rows where rows or entries have been lost
// (a start that leaves out damaged blocks of the checkpoint): entries that lead to no row, or to
// one that has others, go; those that rows lack come. Afterwards each row has exactly its entries
// (I9). In ordinary transactions of some rows each, logged like all: it may be cut short and begun
// again. Thread safety: start-up only, alone. Throws SqlError if the engine refuses (memory, disk).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "catalog/descriptors.h"
#include "storage/epoch/epoch.h"

namespace pgsilo {

class Transaction;
class WorkerContext;

struct MendedIndex {
  uint64_t removed = 0;
  uint64_t added = 0;
};

class IndexMending {
 public:
  // After each transaction that wrote: makes it durable, so that the next one finds room in the
  // log.
  using Settle = std::function<void(Epoch)>;

  IndexMending(WorkerContext& worker, Settle settle)
      : worker_(worker), settle_(std::move(settle)) {}

  MendedIndex mend(const TableDescriptor& table, const IndexDescriptor& index);

 private:
  template <typename Visit>
  void for_batches(Relation& relation, Visit visit);
  bool leads_to_its_row(Transaction& transaction, const TableDescriptor& table,
                        const IndexDescriptor& index, std::string_view entry,
                        std::string_view primary_key);

  WorkerContext& worker_;
  const Settle settle_;
};

}  // namespace pgsilo
