// Rows that the first statement of an interactive transaction inserts in large numbers (COPY), into
// relations that others see. Each lies in its own record from the beginning, absent and with its
// lock in it (in_record_lock.h), so that there is nothing to keep of it but where it is, and its
// commit only makes it present. Who looks at one of them makes entries of the write set of them all
// first (Transaction::settle_loaded), and so does the next command. Only of the first statement:
// nothing that was read or marked before it could still matter when they are taken back.
//
// Thread safety: none; one transaction, under one Pin.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "storage/record/record.h"

namespace pgsilo {

class Relation;

class LoadedRows {
 public:
  bool empty() const { return count_ == 0; }
  size_t size() const { return count_; }
  // Of their keys and rows.
  size_t bytes() const { return bytes_; }

  // For one add() that cannot fail. Throws std::bad_alloc.
  void make_room(Relation& relation);
  // Of the relation of make_room().
  void add(Record* record);
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
    std::vector<std::unique_ptr<Block>> blocks;
    size_t count = 0;
    Record*& at(size_t index) const {
      return (*blocks[index / block_records])[index % block_records];
    }
  };

  std::vector<List> lists_;  // a few: of a table and its indexes
  List* adding_ = nullptr;
  size_t count_ = 0;
  size_t bytes_ = 0;
};

}  // namespace pgsilo
