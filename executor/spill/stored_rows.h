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
  // Its readers have to be rewound.
  void clear();

  class Reader {
   public:
    void rewind() { position_ = 0; }
    // And gives back what it holds.
    void close();
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
  void spill(const ExecutionContext& session, bool is_refused);

  struct Part {
    uint64_t first_row;
    Tape tape;
  };
  const RowShape& shape_;
  std::shared_ptr<RowStore> latest_;
  std::shared_ptr<SpillFile> file_;
  std::vector<Part> parts_;
  uint64_t spilled_ = 0;  // rows of all parts
};

}  // namespace pgsilo
