// Completes a TableDescriptor under construction with what follows from its columns and indexes:
// row layout, keys, order of indexes. Both ways in use it: the loader (from rows) and
// data_definition (from statements). Thread safety: none.
#pragma once

#include <memory>
#include <vector>

#include "catalog/descriptors.h"

namespace pgsilo {

// `indexes` are those of the table, each with its columns set. Where its key, or `relation` of a
// primary one, is yet to be filled in, or not what it was, the table gets a copy. A dropped column
// keeps the width that the layout given in `dropped_widths` (by number - 1; may be shorter) says.
void complete_descriptor(TableDescriptor& table,
                         std::vector<std::shared_ptr<const IndexDescriptor>> indexes,
                         const std::vector<uint8_t>& dropped_widths);

// The key of an index over `table`, whose columns and primary key are complete.
KeyLayout make_index_key(const TableDescriptor& table, const IndexDescriptor& index);

// A column's missing value, copied into the descriptor.
void set_missing(ColumnDescriptor& column, Datum value);

}  // namespace pgsilo
