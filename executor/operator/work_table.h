// The rows with which the steps of WITH RECURSIVE work: those of the last one, read by this one,
// and those that this one adds. Thread safety: one Execution's.
#pragma once

#include <memory>
#include <utility>
#include <vector>

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
    close_readers();
    last_->clear();
    std::swap(last_, added_);
    return true;
  }
  // Whoever reads the last step's rows has a reader of its own, which lives as long as the table:
  // a step may read them at several places. It is closed where the rows go.
  void add_reader(StoredRows::Reader& reader) { readers_.push_back(&reader); }
  const StoredRows& rows() const { return *last_; }
  void clear() {
    close_readers();
    last_->close();
    added_->close();
  }

 private:
  void close_readers() {
    for (StoredRows::Reader* reader : readers_) reader->close();
  }

  std::unique_ptr<StoredRows> last_;
  std::unique_ptr<StoredRows> added_;
  std::vector<StoredRows::Reader*> readers_;
};

}  // namespace pgsilo
