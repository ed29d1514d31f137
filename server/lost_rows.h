// After a start that left out damaged blocks of the checkpoint (recovery_skip_damaged_blocks): says
// which rows of which tables those had, and which foreign keys may be broken by that, and makes the
// indexes agree with what is left. Thread safety: start-up only, alone.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "catalog/index_mending.h"
#include "wal/recovery/lost_blocks.h"

namespace pgsilo {

class LostRows {
 public:
  // Blocks that are told one by one.
  static constexpr size_t most_told = 100;

  LostRows(Catalog& catalog, std::vector<LostBlock> lost)
      : owner_(catalog), catalog_(catalog.snapshot()), lost_(std::move(lost)) {}

  // In the server's log.
  void tell() const;
  // Throws SqlError.
  void mend_indexes(WorkerContext& worker, const WaitSettings& waits) const;

 private:
  std::string words_of(const LostBlock& lost) const;
  bool is_concerned(const TableDescriptor& table) const;
  void tell_of_foreign_keys(const TableDescriptor& table) const;

  Catalog& owner_;
  const std::shared_ptr<const CatalogSnapshot> catalog_;
  const std::vector<LostBlock> lost_;
};

}  // namespace pgsilo
