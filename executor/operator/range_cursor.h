// Walks the rows of one relation between two encoded keys inside the running transaction; turns
// statuses into errors. Keeps the scan's machinery out of the operators. Thread safety: none; one
// operator.
#pragma once

#include <memory>
#include <string_view>

#include "storage/transaction/transaction.h"

namespace pgsilo {

struct ExecutionState;

// Encoded bounds; without one, the range reaches to that end of the tree.
struct EncodedRange {
  std::string_view lower;  // inclusive
  std::string_view upper;  // exclusive
  bool has_lower = false;
  bool has_upper = false;
  bool is_point = false;  // `lower` is the whole key of at most one row
};

class RangeCursor {
 public:
  explicit RangeCursor(ExecutionState& state);
  ~RangeCursor();
  RangeCursor(const RangeCursor&) = delete;
  RangeCursor& operator=(const RangeCursor&) = delete;

  // The bytes of `range` outlive the scan; rows are read into `buffer`. `purpose`: plain or
  // passing.
  void open(Relation& relation, const EncodedRange& range, bool backward, RowBuffer& buffer,
            ReadPurpose purpose);
  // The next row visible to the statement; false at the end, and when nothing is open.
  bool next(RowRef* row);
  // TransactionScan::prefetch_followed(), where next() has returned true.
  void prefetch_followed() const;
  void close();

 private:
  struct Scan;
  ExecutionState& state_;
  std::unique_ptr<Scan> scan_;
};

}  // namespace pgsilo
