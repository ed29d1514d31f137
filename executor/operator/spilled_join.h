// What a hash join does once its table has no room: both sides go to a temporary file in batches
// (JoinBatches), but for left rows of the first one. Another batch comes back in one piece or, if
// its right side is too long, in several, for each of which the left side is read. Rows lie there
// with those of their keys that were computed, which are not computed again. Where the rows of the
// result have to come in the order of the left side, they are sorted by the left rows' numbers.
//
//   join.add_right(...) ...;  join.end_right();
//   while (join.next_right(...)) if (no room) { join.give_up_first(); forget rows that are not
//     first; break; }
//   while (left row) if (!join.takes_left(...)) look it up in the table;
//   join.end_left();
//   while (join.begin_piece()) {
//     while (join.next_right(...)) if (no room) { join.end_piece_early(); break; }
//     join.start_left();  while (join.next_left(...)) ...;
//   }
//
// Thread safety: the rows' layout immutable after compilation; a join belongs to one operator.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "executor/operator/hash_table.h"
#include "executor/operator/join.h"
#include "executor/spill/external_sort.h"
#include "executor/spill/join_batches.h"

namespace pgsilo {

// The keys of one side.
struct JoinKeys {
  std::vector<ExpressionProgram> programs;
  std::vector<bool> is_computed;  // more than a column of the row
  size_t computed = 0;

  JoinKeys() = default;
  JoinKeys(ExpressionList keys, const std::vector<Register>& slots, PlanCompiler& plan);
};

struct SpilledJoinRows {
  const CompiledJoin* join = nullptr;
  const JoinKeys* left_keys = nullptr;
  const JoinKeys* right_keys = nullptr;
  bool in_order = false;  // of the left side
  JoinSides sides;     // a hash, of the left side its number if it matters, computed keys, the row
  TapeColumns result;  // the left row's number, the row or both

  void set(const KeyTypes& types);
  size_t left_head() const { return in_order ? 2 : 1; }
};

class SpilledJoin final : RowOrder {
 public:
  SpilledJoin(const SpilledJoinRows& rows, ExecutionState& state, size_t budget);
  SpilledJoin(const SpilledJoin&) = delete;
  SpilledJoin& operator=(const SpilledJoin&) = delete;

  // The row in the registers.
  void add_right(uint64_t hash, const Datum* keys);
  // One of a table: its keys, then the row.
  void add_right(uint64_t hash, const Datum* keys, const Datum* row);
  // And the first batch begins.
  void end_right();
  void give_up_first() { batches_.give_up_first(); }
  bool is_first(uint64_t hash) const { return batches_.is_first(hash); }
  // The left row in the registers. False: it belongs to the first batch. `hash` null: it can meet
  // none, a key being NULL.
  bool takes_left(const uint64_t* hash, const Datum* keys);
  void end_left() { batches_.end_left(); }

  // False: there are no more.
  bool begin_piece();
  // The piece's next right row, in the registers, with its keys that were computed; null behind the
  // last one. Gives way.
  const Datum* next_right(uint64_t* hash);
  // The row that came last is the first one of the batch's next piece.
  void end_piece_early() { right_waits_ = true; }
  // The right side of the piece is known.
  void start_left();
  // The same of the left side: rows that this piece may still have to do with.
  const Datum* next_left();
  // Whether the left row that came last has been matched; when the batch's last piece is read, its
  // rows that were not are known.
  bool is_matched() const { return !matched_.empty() && matched_[left_index_ - 1]; }
  void note_match();
  bool is_last_piece() const { return is_last_piece_; }

  // Takes the row of the result in the registers, which belongs to the left row that came last.
  void keep_result();
  // Behind the last piece.
  void sort_results();
  // Into the registers; false behind the last one.
  bool next_result();

 private:
  int compare_rows(const Datum* left, const Datum* right) override {
    state_.session.maybe_yield();
    return left[0].i64 < right[0].i64 ? -1 : left[0].i64 > right[0].i64;
  }
  void append(const RowShape& shape);
  void append_computed(const JoinKeys& side, const Datum* keys);
  const CompiledJoin& join() const { return *rows_.join; }

  const SpilledJoinRows& rows_;
  ExecutionState& state_;
  const size_t budget_;
  JoinBatches batches_;
  std::unique_ptr<ExternalSort> sorted_;
  std::vector<Datum> row_;     // that is written
  std::vector<bool> matched_;  // left rows of a batch in several pieces; else empty
  uint64_t unmatched_ = 0;     // of these
  size_t left_index_ = 0;      // of the next left row in its batch
  int64_t left_number_ = 0;
  int64_t left_rows_ = 0;  // numbered so far
  bool is_last_piece_ = true;
  bool right_waits_ = false;  // the right row that came last is in no piece yet
};

}  // namespace pgsilo
