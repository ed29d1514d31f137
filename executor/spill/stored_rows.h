// Rows that are kept in the order in which they came, for any number of readers, also while more
// come: the latest in memory, those before on tapes once work_mem is used up.
// Thread safety: one Execution's, or one portal's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "executor/execution_context.h"
#include "executor/operator/row_store.h"
#include "executor/spill/row_tape.h"

namespace pgsilo {

class StoredRows {
 public:
  explicit StoredRows(const RowShape& shape)
      : shape_(shape), latest_(std::make_shared<RowStore>(shape)) {}

  // From the registers `file`. Throws MemoryLimitReached where nothing can spill.
  void append(const Datum* file, const ExecutionContext& session);
  uint64_t size() const { return spilled_ + latest_->size(); }
  // Its readers have to be closed before. What it may spill again goes to the same file.
  void clear();
  // The same, and the file goes.
  void close();

  class Reader {
   public:
    void rewind() { position_ = 0; }
    // The row that next() gives then.
    void seek(uint64_t position) { position_ = position; }
    // And gives back what it holds.
    void close() {
      held_.reset();
      position_ = 0;
      if (tape_ != nullptr) [[unlikely]]
        close_tape();
    }
    // Null behind the last row so far. Valid until its next call, whatever is appended meanwhile.
    const Datum* next(const StoredRows& rows) {
      if (position_ < rows.spilled_) [[unlikely]]
        return next_spilled(rows);
      uint64_t index = position_ - rows.spilled_;
      if (index == rows.latest_->size()) return nullptr;
      if (held_ != rows.latest_) [[unlikely]]
        held_ = rows.latest_;
      ++position_;
      const Datum* row = (*held_)[index];
      return row != nullptr ? row : &no_columns_;
    }

   private:
    void close_tape();
    const Datum* next_spilled(const StoredRows& rows);
    void find_position(const StoredRows& rows);

    // A row without columns may lie nowhere.
    static constexpr Datum no_columns_{};
    uint64_t position_ = 0;
    uint64_t tape_position_ = UINT64_MAX;  // of the row that tape_ gives next
    uint64_t tape_end_ = 0;
    std::shared_ptr<RowStore> held_;  // where its last row lies
    std::shared_ptr<SpillFile> file_;
    std::unique_ptr<TapeReader> tape_;
  };

 private:
  bool has_room(size_t budget);
  void spill(const ExecutionContext& session, bool is_refused);
  void release_latest();

  struct Part {
    uint64_t first_row;
    Tape tape;
  };
  // Rows that were spilled while somebody's last row lay among them.
  struct Held {
    std::weak_ptr<RowStore> rows;
    size_t bytes;
  };
  const RowShape& shape_;
  std::shared_ptr<RowStore> latest_;
  std::shared_ptr<SpillFile> file_;
  std::vector<Part> parts_;
  std::vector<Held> held_;
  size_t held_bytes_ = 0;  // at most
  uint64_t spilled_ = 0;   // rows of all parts
};

}  // namespace pgsilo
