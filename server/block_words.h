// What a block of a checkpoint holds, as users call it: rows of which table or entries of which
// index, from which key to which. Thread safety: any thread.
#pragma once

#include <string>

#include "catalog/catalog.h"
#include "wal/recovery/scrubber.h"

namespace pgsilo {

std::string quoted_name(const TableDescriptor& table);
std::string quoted_name(const TableDescriptor& table, const IndexDescriptor& index);

struct BlockWords {
  std::string what;   // empty: no table has the relation
  std::string range;  // where its keys are: from the first, to the last if that is known
};
BlockWords words_of_block(const CatalogSnapshot& catalog, RelationId relation, uint64_t records,
                          const std::string& first_key, const std::string& last_key);

// By the newest catalog.
class CheckpointNames final : public BlockNames {
 public:
  explicit CheckpointNames(const Catalog& catalog) : catalog_(catalog) {}
  std::string held_by(const CheckpointBlock& block) const override;

 private:
  const Catalog& catalog_;
};

}  // namespace pgsilo
