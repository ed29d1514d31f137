#include "executor/relation_memory.h"

#include "catalog/descriptors.h"
#include "storage/relation/relation.h"

namespace pgsilo {

RelationMemory memory_of(const TableDescriptor& table) {
  RelationMemory memory;
  const Relation* relation = table.relation;
  if (relation == nullptr || table.kind == RelationKind::view) return memory;
  memory.rows = relation->row_count();
  memory.row_bytes = relation->memory_bytes(MemoryKind::rows);
  if (table.primary_index() == nullptr)
    memory.tree_bytes = relation->memory_bytes(MemoryKind::nodes);
  return memory;
}

RelationMemory memory_of(const TableDescriptor& table, const IndexDescriptor& index) {
  RelationMemory memory;
  const Relation* relation = index.is_primary_tree() ? table.relation : index.relation;
  if (relation == nullptr) return memory;
  memory.rows = relation->row_count();
  memory.tree_bytes = relation->memory_bytes(MemoryKind::nodes);
  if (!index.is_primary_tree()) memory.row_bytes = relation->memory_bytes(MemoryKind::rows);
  return memory;
}

}  // namespace pgsilo
