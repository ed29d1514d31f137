// Sorted runs on tapes and their merge: no more tapes are read at a time than the file's budget has
// buffers for, so that many runs are merged in several passes.
//
//   ExternalSort sort(file, layout, order, wanted);
//   sort.add_run(rows) ...;  sort.begin_merge();  while (const Datum* row = sort.next()) ...
//
// Thread safety: one operator's.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "executor/spill/row_tape.h"

namespace pgsilo {

// How rows are ordered. May suspend the fiber, and throws what ends the statement.
class RowOrder {
 public:
  virtual int compare_rows(const Datum* left, const Datum* right) = 0;

 protected:
  ~RowOrder() = default;
};

class ExternalSort {
 public:
  // `wanted`: so many rows from the first on.
  ExternalSort(TemporaryFiles& files, size_t budget, TapeColumns layout, RowOrder& order,
               uint64_t wanted);
  ExternalSort(const ExternalSort&) = delete;
  ExternalSort& operator=(const ExternalSort&) = delete;

  // Rows in order.
  void add_run(std::span<Datum* const> rows);
  // The same one by one; end_run() where no row came does nothing.
  void append(const Datum* row) { writer_.append(row); }
  void end_run();
  // From the first row on, also again.
  void begin_merge();
  // Null behind the last one. Valid until the next one.
  const Datum* next();

 private:
  void merge_some(size_t count);
  void open(size_t count, bool kept);
  const Datum* least();
  void sift(size_t at);

  RowOrder& order_;
  const TapeColumns layout_;
  const uint64_t wanted_;
  SpillFile file_;
  TapeWriter writer_;
  std::deque<Tape> runs_;
  std::vector<std::unique_ptr<TapeReader>> readers_;
  std::vector<TapeReader*> heap_;  // those that have rows, the least on top
  bool is_begun_ = false;          // the top row was given out
  uint64_t left_ = 0;
};

}  // namespace pgsilo
