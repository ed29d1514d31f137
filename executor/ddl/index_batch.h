// The entries of some rows of a table whose index is being built (docs/index_build.md): what one
// of the build's transactions does, on whatever worker. Thread safety: of its transaction.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "base/byte_buffer.h"
#include "catalog/descriptors.h"
#include "catalog/index_evaluator.h"
#include "executor/ddl/index_ranges.h"
#include "storage/index/index_tree.h"
#include "storage/transaction/transaction_scan.h"

namespace pgsilo {

class IndexBatch {
 public:
  explicit IndexBatch(Transaction& transaction) : transaction_(transaction) {}

  // Of the first rows of the range, each as it is when the one-shot that has begun commits and
  // nobody is about to change it. duplicate_key: the index is unique and has the key of
  // duplicate_row() for another one. Throws SqlError, std::bad_alloc.
  TransactionStatus add_entries(const TableDescriptor& table, const IndexDescriptor& index,
                                IndexEntries& entries, const IndexRange& range);
  std::string_view duplicate_row() const { return duplicate_row_; }
  // It has committed: the range begins behind its rows now.
  void advance(IndexRange& range);
  // It runs again, with half of its rows.
  void shrink() { rows_ = std::max<size_t>(rows_ / 2, 1); }

 private:
  // Rows of one transaction. More make it fail more often, fewer cost more; at a microsecond or two
  // for each row it is about a slice of its worker.
  static constexpr size_t most_rows = 256;
  struct Entry {
    std::string_view key;  // empty: the index does not have the row
    std::string_view primary_key;
    std::string_view row;  // of a unique index, for an error
  };
  TransactionStatus gather(TransactionScan& scan, const IndexDescriptor& index,
                           IndexEntries& entries, size_t most);
  TransactionStatus add_gathered(const IndexDescriptor& index);
  TransactionStatus add_entry(const IndexDescriptor& index, const Entry& entry);

  Transaction& transaction_;
  size_t rows_ = most_rows;
  std::string last_key_;
  bool at_end_ = false;
  std::string_view duplicate_row_;
  Arena memory_;
  ByteBuffer entry_;
  // They go anywhere in the index: what they need of it is fetched for some at once.
  std::array<Entry, IndexTree::max_lookups> gathered_;
  size_t gathered_count_ = 0;
};

}  // namespace pgsilo
