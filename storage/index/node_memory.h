// Memory blocks for the nodes of one tree; border and interior nodes have one size. Internal to
// storage/index.
#pragma once

#include <cstddef>

#include "base/small_memory.h"
#include "storage/epoch/reclaimer.h"
#include "storage/index/node.h"
#include "storage/record/memory_account.h"

namespace pgsilo {

inline constexpr size_t node_bytes = sizeof(BorderNode);

inline void* allocate_node_memory() {
  static_assert(node_bytes % alignof(Node) == 0 && alignof(Node) <= 64);
  return allocate_small(node_bytes);
}

inline void* allocate_node_memory(MemoryAccount& account, unsigned thread_index) {
  void* memory = allocate_node_memory();
  account.add(thread_index, node_bytes, MemoryKind::nodes);
  return memory;
}

inline void free_node_memory(void* memory, MemoryAccount& account, unsigned thread_index) {
  account.subtract(thread_index, node_bytes, MemoryKind::nodes);
  free_small(memory, node_bytes);
}

// `node` is unlinked and marked deleted.
inline void retire_node(Node* node, MemoryAccount& account, ReclaimerHandle& handle) {
  account.subtract(handle.index(), node_bytes, MemoryKind::nodes);
  handle.retire(node, small_memory_deleter(node_bytes), node_bytes);
}

}  // namespace pgsilo
