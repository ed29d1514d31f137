// The rows with which the steps of WITH RECURSIVE work: those of the last one, read by this one,
// and those that this one adds. Thread safety: one Execution's.
#pragma once

#include <memory>
#include <utility>

#include "executor/row_shape.h"
#include "executor/spill/stored_rows.h"

namespace pgsilo {

class WorkTable {
 public:
  explicit WorkTable(const RowShape& shape)
      : last_(std::make_unique<StoredRows>(shape)), added_(std::make_unique<StoredRows>(shape)) {}

  // Of this step. Throws MemoryLimitReached.
  void add(const Datum* row, const ExecutionContext& session) { added_->append(row, session); }
  // What was added is read from here on. False: that is nothing.
  bool begin_step() {
    if (added_->size() == 0) return false;
    reader_.close();
    last_->clear();
    std::swap(last_, added_);
    return true;
  }
  // The last step's rows, for the one who reads them; null behind the last one.
  void rewind() { reader_.rewind(); }
  const Datum* next() { return reader_.next(*last_); }
  void clear() {
    reader_.close();
    last_->close();
    added_->close();
  }

 private:
  std::unique_ptr<StoredRows> last_;
  std::unique_ptr<StoredRows> added_;
  StoredRows::Reader reader_;
};

}  // namespace pgsilo
