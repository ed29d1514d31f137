// Building syntax tree nodes: for sql/parser and for rewrites.
#pragma once

#include "base/arena.h"
#include "sql/ast/node.h"

namespace pgsilo::ast {

// A node of default fields; the caller fills them before anyone else sees it.
template <typename T>
T* make_node(Arena& arena, int32_t location = -1) {
  T* node = arena.make<T>();
  node->kind = T::node_kind;
  node->location = location;
  return node;
}

}  // namespace pgsilo::ast
