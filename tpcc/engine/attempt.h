// One attempt at a transaction: rows by type over the engine's one-shot transaction. Every function
// returns whether the attempt goes on; if not, status() says why, and the transaction's function
// returns that: not_found for a row that is not there, which is an answer, or a conflict.
//
//   const District* district;
//   if (!attempt.read(tables.districts, Key(w, d), &district)) return attempt.status();
//
// Thread safety: one owner, for one attempt.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "storage/relation/relation.h"
#include "storage/transaction/transaction.h"
#include "storage/transaction/transaction_scan.h"
#include "tpcc/engine/keys.h"
#include "tpcc/engine/rows.h"

namespace pgsilo::tpcc {

// A terminal's memory, for one attempt after the other.
struct Workspace {
  Arena arena;  // what is read
  std::vector<RowRef> entries;
};

class Attempt {
 public:
  // The transaction has begun.
  Attempt(Transaction& transaction, Workspace& workspace)
      : transaction_(transaction), workspace_(workspace), buffer_(workspace.arena) {
    static_cast<void>(next_statement());
  }

  TransactionStatus status() const { return status_; }
  Transaction& transaction() { return transaction_; }
  RowBuffer& buffer() { return buffer_; }
  // The row that was read last stays until the end.
  void keep_row() { buffer_ = RowBuffer(workspace_.arena); }
  // Emptied.
  std::vector<RowRef>& entries() {
    workspace_.entries.clear();
    return workspace_.entries;
  }

  // What is written so far is seen from here on.
  bool next_statement() { return note(transaction_.begin_statement()); }

  // The row, until the next read.
  template <typename Row, size_t numbers>
  bool read(Relation& table, const Key<numbers>& key, const Row** row) {
    if (!note(transaction_.get(table, key.view(), buffer_, &found_))) return false;
    *row = reinterpret_cast<const Row*>(found_.row.data());
    return true;
  }
  // A copy of it to be changed, and where it goes back to.
  template <typename Row, size_t numbers>
  bool read(Relation& table, const Key<numbers>& key, Row* row, RowRef* place) {
    if (!note(transaction_.get(table, key.view(), buffer_, place))) return false;
    copy(place->row, row);
    return true;
  }
  // Of which only some bytes matter, and are changed.
  template <typename Row, size_t numbers>
  bool read_partial(Relation& table, const Key<numbers>& key, std::span<const RowRange> used,
                    Row* row, RowRef* place) {
    return read(table, key, row, place) && note(transaction_.narrow_read(*place, used));
  }
  template <typename Row>
  bool update_partial(const RowRef& place, const Row& row, const RowPatch& patch) {
    return note(transaction_.update_partial(place, bytes_of(row), {&patch, 1}));
  }
  // By way of a secondary entry.
  template <typename Row>
  bool follow(const RowRef& entry, Relation& table, Row* row, RowRef* place) {
    if (!note(transaction_.get_via_entry(table, entry, buffer_, place))) return false;
    copy(place->row, row);
    return true;
  }
  template <typename Row>
  bool update(const RowRef& place, const Row& row) {
    return note(transaction_.update(place, bytes_of(row)));
  }
  bool insert(Relation& table, std::string_view key, std::string_view row) {
    return note(transaction_.insert(table, key, row));
  }
  bool remove(const RowRef& place) { return note(transaction_.remove(place)); }

  // The next row of a scan; at its end *more is false.
  bool next(TransactionScan& scan, RowRef* row, bool* more) {
    TransactionStatus status = scan.next(row);
    *more = status == TransactionStatus::ok;
    return *more || status == TransactionStatus::not_found || note(status);
  }

  template <typename Row>
  static void copy(std::string_view bytes, Row* row) {
    std::memcpy(static_cast<void*>(row), bytes.data(), std::min(bytes.size(), sizeof *row));
  }

 private:
  bool note(TransactionStatus status) {
    status_ = status;
    return status == TransactionStatus::ok;
  }

  Transaction& transaction_;
  Workspace& workspace_;
  RowBuffer buffer_;
  RowRef found_;
  TransactionStatus status_ = TransactionStatus::ok;
};

// Brings rows that are about to be read into the cache, all at once. At most
// IndexTree::max_lookups.
template <size_t numbers>
void prefetch(const Relation& table, std::span<const Key<numbers>> keys) {
  std::array<IndexTree::Lookup, IndexTree::max_lookups> lookups;
  for (size_t i = 0; i < keys.size(); ++i) lookups[i] = {&table.tree(), keys[i].view()};
  IndexTree::prefetch(std::span(lookups).first(keys.size()));
}

// All rows whose keys begin with the numbers of `first`, up to those that begin with `end`.
template <size_t numbers>
KeyRange range(const Key<numbers>& first, const Key<numbers>& end) {
  return {KeyBound::inclusive(first.view()), KeyBound::exclusive(end.view())};
}

}  // namespace pgsilo::tpcc
