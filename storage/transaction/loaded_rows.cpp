#include "storage/transaction/loaded_rows.h"

#include <algorithm>

#include "base/check.h"
#include "storage/relation/relation.h"

namespace pgsilo {

void LoadedRows::make_room(Relation& relation, CommandId command) {
  PGSILO_DCHECK(empty() || command == command_);
  command_ = command;
  auto list = std::ranges::find(lists_, &relation, &List::relation);
  if (list == lists_.end())
    list = lists_.insert(list, List{&relation, TreeAppender(relation.tree()), {}});
  adding_ = &*list;
  if (list->count == list->blocks.size() * block_records)
    list->blocks.push_back(std::make_unique_for_overwrite<Block>());
}

Record* LoadedRows::insert(Record* fresh, ReclaimerHandle& handle, NodeChanges& changes) {
  Record* there = adding_->appender.append(fresh, handle, changes);
  if (there != nullptr) return there;
  adding_->at(adding_->count++) = fresh;
  ++count_;
  bytes_ += fresh->key().size() + fresh->quiet_row().size();
  return nullptr;
}

bool LoadedRows::last(Relation** relation, Record** record) {
  while (!lists_.empty() && lists_.back().count == 0) lists_.pop_back();
  if (lists_.empty()) return false;
  *relation = lists_.back().relation;
  *record = lists_.back().at(lists_.back().count - 1);
  return true;
}

void LoadedRows::pop() {
  List& list = lists_.back();
  const Record* record = list.at(--list.count);
  --count_;
  bytes_ -= record->key().size() + record->quiet_row().size();
  constexpr size_t spare = 2 * block_records;
  if (list.blocks.size() * block_records >= list.count + spare) list.blocks.pop_back();
}

void LoadedRows::clear() {
  lists_.clear();
  count_ = bytes_ = 0;
}

}  // namespace pgsilo
