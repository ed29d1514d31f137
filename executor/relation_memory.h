// What a table and its indexes take in memory: rows and trees apart, so that the parts add up. The
// rows of a table with a primary key lie in the key's tree: the rows are the table's, the tree is
// the index's. Thread safety: any thread, under a pin.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pgsilo {

struct IndexDescriptor;
struct TableDescriptor;

struct RelationMemory {
  int64_t rows = 0;       // or entries
  size_t row_bytes = 0;   // records: key, row, header; what the allocator rounds up is not in it
  size_t tree_bytes = 0;  // nodes
  size_t bytes() const { return row_bytes + tree_bytes; }
};

// Without its indexes. Nothing for a view.
RelationMemory memory_of(const TableDescriptor& table);
// `index` is one of the table's.
RelationMemory memory_of(const TableDescriptor& table, const IndexDescriptor& index);

}  // namespace pgsilo
