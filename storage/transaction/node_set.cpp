#include "storage/transaction/node_set.h"

#include "base/append.h"

namespace pgsilo {

NodeSet::Fixup NodeSet::apply(const NodeChanges& changes) {
  if (changes.changed == nullptr) return Fixup::not_registered;
  NodeRef* known = find(changes.changed);
  if (known == nullptr) return Fixup::not_registered;
  if (known->version != changes.before) return Fixup::beaten;
  changed_older_ |= static_cast<size_t>(known - nodes_.data()) < statement_begin_;
  changed_before_part_ |= static_cast<size_t>(known - nodes_.data()) < part_begin_;
  known->version = changes.after;
  for (const NodeRef& created : changes.created) {
    if (!add(created)) return Fixup::beaten;
  }
  return Fixup::moved_on;
}

void NodeSet::append(NodeRef ref) {
  index_.prepare(nodes_.size(), node_at());
  pgsilo::append(nodes_, ref);
  index_.add(ref.node, static_cast<uint32_t>(nodes_.size() - 1));
}

bool NodeSet::forget_statement() {
  if (changed_older_) return false;
  truncate(statement_begin_);
  return true;
}

bool NodeSet::forget_part() {
  if (changed_before_part_) return false;
  truncate(part_begin_);
  return true;
}

void NodeSet::truncate(size_t size) {
  if (size == nodes_.size()) return;
  nodes_.resize(size);
  index_.truncate(nodes_.size(), node_at());
}

namespace {
// Out of line, so that clearing an ordinary set needs no frame. The index is large only with the
// nodes.
[[gnu::noinline]] void free_large(std::vector<NodeRef>& nodes, PointerIndex& index) {
  index.clear();
  free_memory(nodes);
}
}  // namespace

void NodeSet::clear() {
  constexpr size_t ordinary = 4096;
  nodes_.clear();
  begin_statement();
  part_begin_ = 0;
  if (nodes_.capacity() > ordinary) [[unlikely]]
    free_large(nodes_, index_);
}

}  // namespace pgsilo
