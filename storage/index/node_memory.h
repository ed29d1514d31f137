// Memory blocks for the nodes of one tree; border and interior nodes have one size. Internal to
// storage/index.
#pragma once

#include <cstdlib>
#include <new>

#include "storage/epoch/reclaimer.h"
#include "storage/index/node.h"
#include "storage/record/memory_account.h"

namespace pgsilo {

inline constexpr size_t node_bytes = sizeof(BorderNode);

inline void* allocate_node_memory() {
  void* memory = std::aligned_alloc(alignof(Node), node_bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

inline void* allocate_node_memory(MemoryAccount& account, unsigned thread_index) {
  void* memory = allocate_node_memory();
  account.add(thread_index, node_bytes, MemoryKind::nodes);
  return memory;
}

inline void free_node_memory(void* memory, MemoryAccount& account, unsigned thread_index) {
  account.subtract(thread_index, node_bytes, MemoryKind::nodes);
  std::free(memory);
}

// `node` is unlinked and marked deleted.
inline void retire_node(Node* node, MemoryAccount& account, ReclaimerHandle& handle) {
  account.subtract(handle.index(), node_bytes, MemoryKind::nodes);
  handle.retire(node, [](void* memory) { std::free(memory); }, node_bytes);
}

}  // namespace pgsilo
