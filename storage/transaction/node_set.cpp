#include "storage/transaction/node_set.h"

#include <algorithm>
#include <new>

#include "base/append.h"

namespace pgsilo {

NodeSet::Fixup NodeSet::apply(const NodeChanges& changes) {
  if (changes.changed == nullptr) return Fixup::not_registered;
  bool is_run = changes.before.is_heir() && !nodes_.empty();
  if (is_run) [[unlikely]]
    note_run(changes);
  NodeRef* known = find(changes.changed);
  if (known == nullptr) return is_run ? Fixup::moved_on : Fixup::not_registered;
  if (!known->version.is_as_grown_as(changes.before)) return Fixup::beaten;
  changed_older_ |= static_cast<size_t>(known - nodes_.data()) < statement_begin_;
  changed_before_part_ |= static_cast<size_t>(known - nodes_.data()) < part_begin_;
  known->version = changes.after;
  for (const NodeRef& created : changes.created) {
    if (!add(created)) return Fixup::beaten;
  }
  return Fixup::moved_on;
}

// What others have grown breaks a run for good: what they have put where may lie in any of the
// runs.
void NodeSet::note_run(const NodeChanges& changes) {
  statement_noted_run_ = part_noted_run_ = true;
  uint32_t position = run_index_.find(changes.changed, runs_.size(), run_at());
  if (position == PointerIndex::none) {
    add_run({changes.changed, changes.before, changes.after});
  } else if (runs_[position].last.is_as_grown_as(changes.before)) {
    runs_[position].last = changes.after;
  }
  for (const NodeRef& created : changes.created)
    add_run({created.node, created.version, created.version});
}

void NodeSet::add_run(const Run& run) {
  run_index_.prepare(runs_.size(), run_at());
  pgsilo::append(runs_, run);
  run_index_.add(run.node, static_cast<uint32_t>(runs_.size() - 1));
}

// What a validation looks at, and whether it rests on runs, so that these must validate too.
class NodeSet::Validation {
  auto node_at() const {
    return [this](uint32_t position) { return followed_[position].node; };
  }

 public:
  explicit Validation(size_t since) : since(since) {}

  const size_t since;
  bool rests_on_runs = false;

  // Heirs of which one is looked at: all or none of them validate.
  void follow(NodeRef heir) {
    try {
      index_.prepare(followed_.size(), node_at());
      pgsilo::append(followed_, heir);
      index_.add(heir.node, static_cast<uint32_t>(followed_.size() - 1));
    } catch (const std::bad_alloc&) {
      // Then it is followed again.
    }
  }
  bool has_followed(NodeRef heir) const {
    uint32_t position = index_.find(heir.node, followed_.size(), node_at());
    return position != PointerIndex::none &&
           followed_[position].version.is_as_grown_as(heir.version);
  }

 private:
  std::vector<NodeRef> followed_;
  PointerIndex index_;
};

// Whether no key has come to the node since that version, nor to who has taken over its range.
bool NodeSet::is_ungrown(NodeRef ref, Validation& validation) const {
  for (;;) {
    NodeVersion now = ref.node->version().for_validation();
    if (!now.is_as_grown_as(ref.version)) return false;
    if (!now.is_deleted()) return true;
    ref = ref.node->heir();
    if (is_looked_at(ref, validation)) return true;
    validation.follow(ref);
  }
}

// Whether the heir is one of those that must validate anyway, as it was when it took over or, in a
// run, with what is our own. So no link of a chain of heirs is followed twice, and who scans a
// range of which all nodes go one by one, and has registered each link, follows none.
bool NodeSet::is_looked_at(NodeRef heir, Validation& validation) const {
  if (validation.has_followed(heir)) return true;
  uint32_t position = index_.find(heir.node, nodes_.size(), node_at());
  if (position != PointerIndex::none && position >= validation.since &&
      nodes_[position].version.is_as_grown_as(heir.version))
    return true;
  position = run_index_.find(heir.node, runs_.size(), run_at());
  if (position == PointerIndex::none) return false;
  const Run& run = runs_[position];
  bool lies_in_run =
      run.first.growths() <= heir.version.growths() && heir.version.growths() <= run.last.growths();
  validation.rests_on_runs |= lies_in_run;
  return lies_in_run;
}

bool NodeSet::validates(size_t since, size_t first, size_t last) const {
  Validation validation(since);
  for (size_t i = first; i < last; ++i) {
    if (nodes_[i].node->version().for_validation() != nodes_[i].version &&
        !is_ungrown(nodes_[i], validation))
      return false;
  }
  if (!validation.rests_on_runs) return true;
  return std::all_of(runs_.begin(), runs_.end(),
                     [&](const Run& run) { return is_ungrown({run.node, run.last}, validation); });
}

void NodeSet::append(NodeRef ref) {
  index_.prepare(nodes_.size(), node_at());
  pgsilo::append(nodes_, ref);
  index_.add(ref.node, static_cast<uint32_t>(nodes_.size() - 1));
}

bool NodeSet::forget_statement() {
  if (changed_older_ || (statement_noted_run_ && any_removed(statement_begin_))) return false;
  truncate(statement_begin_);
  return true;
}

bool NodeSet::forget_part() {
  if (changed_before_part_ || (part_noted_run_ && any_removed(part_begin_))) return false;
  truncate(part_begin_);
  return true;
}

// Whether some of the first `count` nodes rest on their heirs. One that goes later does not rest on
// what has been inserted so far: that would lie in itself.
bool NodeSet::any_removed(size_t count) const {
  return std::any_of(nodes_.begin(), nodes_.begin() + static_cast<ptrdiff_t>(count),
                     [](NodeRef ref) { return ref.node->version().for_validation().is_deleted(); });
}

void NodeSet::truncate(size_t size) {
  if (size == nodes_.size()) return;
  index_.truncate(nodes_.size(), size, node_at());
  nodes_.resize(size);
  if (nodes_.empty()) runs_.clear();  // nothing rests on them, nor is any noted from here on
}

namespace {
// Out of line, so that clearing an ordinary set needs no frame. The index is large only with the
// nodes.
template <typename Entries>
[[gnu::noinline]] void free_large(Entries& entries, PointerIndex& index) {
  index.clear();
  free_memory(entries);
}
}  // namespace

void NodeSet::clear() {
  constexpr size_t ordinary = 4096;
  nodes_.clear();
  met_removals_ = false;
  begin_statement();
  part_begin_ = 0;
  if (nodes_.capacity() > ordinary) [[unlikely]]
    free_large(nodes_, index_);
  runs_.clear();
  if (runs_.capacity() > ordinary) [[unlikely]]
    free_large(runs_, run_index_);
}

}  // namespace pgsilo
