// Rows that a statement of an interactive transaction inserts in large numbers (COPY), into
// relations that others see. Each lies in its own record from the beginning, absent and with its
// lock in it (in_record_lock.h), so that there is nothing to keep of it but where it is, and its
// commit only makes it present. Who looks at one of them makes entries of the write set of them all
// first (Transaction::settle_loaded), and so does the next command. So all are of one command.
//
// Most keys follow the one before (row ids, a key that counts): each relation's rows go into its
// tree by an appender of their own, which descends only where they do not.
//
// Thread safety: none; one transaction, under one Pin.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "storage/index/index_tree.h"
#include "storage/transaction/write_set.h"

namespace pgsilo {

class Relation;

class LoadedRows {
 public:
  bool empty() const { return count_ == 0; }
  size_t size() const { return count_; }
  // Of their keys and rows.
  size_t bytes() const { return bytes_; }

  // For one insert() into the relation, by that command. Throws std::bad_alloc.
  void make_room(Relation& relation, CommandId command);
  // Whose they are.
  CommandId command() const { return command_; }
  // As IndexTree::insert(), into the relation of make_room(); remembers `fresh` if it went in.
  // Throws std::bad_alloc, then nothing has changed.
  Record* insert(Record* fresh, ReclaimerHandle& handle, NodeChanges& changes);
  // The one that was added last to some relation; pop() forgets it. False: there is none.
  bool last(Relation** relation, Record** record);
  void pop();
  // f(relation, record) of each, always in the same order; stops when it returns false, and returns
  // that then.
  template <typename F>
  bool visit(F f) const {
    for (const List& list : lists_) {
      for (size_t i = 0; i < list.count; ++i) {
        if (!f(*list.relation, list.at(i))) return false;
      }
    }
    return true;
  }
  // f(relation, count) of each relation.
  template <typename F>
  void visit_relations(F f) const {
    for (const List& list : lists_) f(*list.relation, list.count);
  }
  void clear();

 private:
  static constexpr size_t block_records = 4096;
  using Block = std::array<Record*, block_records>;
  struct List {
    Relation* relation;
    TreeAppender appender;
    std::vector<std::unique_ptr<Block>> blocks;
    size_t count = 0;
    Record*& at(size_t index) const {
      return (*blocks[index / block_records])[index % block_records];
    }
  };

  std::vector<List> lists_;  // a few: of a table and its indexes
  List* adding_ = nullptr;
  CommandId command_ = 0;
  size_t count_ = 0;
  size_t bytes_ = 0;
};

}  // namespace pgsilo
