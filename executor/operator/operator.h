// The running half of a plan node: a stream of rows that is pulled. A row is not returned but left
// in the registers that the compiled operator names; it stays there until the next call of next()
// or open() on the same operator. By-reference values of a row are valid as long as the row is.
// Thread safety: none; one Execution.
#pragma once

#include <memory>

#include "executor/compiled_statement.h"
#include "executor/execution_state.h"

namespace pgsilo {

class Operator {
 public:
  explicit Operator(ExecutionState& state) : state_(state) {}
  virtual ~Operator() = default;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  // Starts over from the first row: at the beginning, and for each rescan after execution
  // parameters changed.
  virtual void open() = 0;
  // False: no more rows; then not called again before open().
  virtual bool next() = 0;
  // The run is over: lets go of cursors (which need the transaction) and of memory beyond the
  // ordinary. open() may follow.
  virtual void close() {}

 protected:
  Datum* registers() { return state_.registers.data(); }
  Datum& at(Register index) { return state_.registers[index]; }

  ExecutionState& state_;
};

// Memory for the by-reference results of an operator's own programs: emptied when the operator
// moves on, and when the run is over.
class Scratch {
 public:
  explicit Scratch(ExecutionState& state) : state_(state), next_(state.scratches) {
    state.scratches = this;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  // Forgets the last row's results and directs new ones here.
  void begin_row() {
    if (arena_.bytes_reserved() != 0) arena_.reset();
    state_.rows.use_arena(arena_);
  }
  void use() { state_.rows.use_arena(arena_); }
  // Of all of the execution's, from `first` on: only memory of ordinary size stays.
  static void trim(Scratch* first) {
    for (Scratch* scratch = first; scratch != nullptr; scratch = scratch->next_)
      scratch->arena_.trim();
  }

 private:
  ExecutionState& state_;
  Scratch* const next_;
  Arena arena_{ArenaLimit::memory_limit};
};

// Memory into which an operator reads rows: as long as the longest of them, and of ordinary size
// when the run is over. DELETE of long rows goes on above memory_limit.
class ReadBuffer {
 public:
  // RowBuffer's `wanted`.
  explicit ReadBuffer(ExecutionState& state, size_t wanted = RowBuffer::whole)
      : next_(state.read_buffers), rows_(arena_, wanted) {
    state.read_buffers = this;
  }
  ReadBuffer(const ReadBuffer&) = delete;
  ReadBuffer& operator=(const ReadBuffer&) = delete;
  RowBuffer& rows() { return rows_; }
  // As Scratch::trim().
  static void trim(ReadBuffer* first) {
    for (ReadBuffer* buffer = first; buffer != nullptr; buffer = buffer->next_) {
      if (buffer->arena_.bytes_reserved() <= limits::kept_arena_bytes) continue;
      buffer->arena_.reset();
      buffer->rows_ = RowBuffer(buffer->arena_, buffer->rows_.wanted());
    }
  }

 private:
  ReadBuffer* const next_;
  Arena arena_{ArenaLimit::reserve};
  RowBuffer rows_;
};

}  // namespace pgsilo
