// Both sides of a hash join whose table has no room: divided by the hash of their keys, so that
// only rows of one batch can meet. As much of the right side as the table has room for is the first
// batch, whose left rows are not written: they are looked at as they come. A batch that is too
// large is divided again, unless nothing comes of it: then the join reads its right side in pieces.
//
//   batches.add_right(row) ...;  batches.end_right();
//   batches.begin_first();  batches.next_right() ...;
//   if (!batches.is_first(hash)) batches.add_left(row) ...;  batches.end_left();
//   while (batches.next_batch()) { batches.next_right() ...;  batches.start_left(...); ... }
//
// A row begins with the hash. Thread safety: one operator's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "executor/execution_context.h"
#include "executor/spill/partitions.h"

namespace pgsilo {

struct JoinSides {
  TapeColumns left;
  TapeColumns right;
  bool keeps_left = false;  // rows that nothing matches are of the result
  bool keeps_right = false;
  size_t right_row_bytes = 0;  // in a table, what is by reference apart
};

class JoinBatches {
 public:
  JoinBatches(const JoinSides& sides, ExecutionContext& session, size_t budget);
  JoinBatches(const JoinBatches&) = delete;
  JoinBatches& operator=(const JoinBatches&) = delete;

  void add_right(const Datum* row) { dividing_->append(hash_of(row), row); }
  void end_right();
  void begin_first();
  // There is no room for the row that came last: what was read of its partition is not of the first
  // batch after all, nor is what comes behind it.
  void give_up_first();
  // Whether rows of these keys can meet rows of the first batch only, or none.
  bool is_first(uint64_t hash) const {
    size_t number = dividing_->number_of(hash);
    return is_first_[number] || (number == parted_ && is_of_part(hash));
  }
  void add_left(const Datum* row) { dividing_->append(hash_of(row), row); }
  void end_left();

  // False: there are no more.
  bool next_batch();
  uint64_t left_rows() const { return batch_.left.rows; }
  // Null behind the last one; and the one that came last.
  const Datum* next_right() { return reads_first_ ? next_first() : right_.next(); }
  const Datum* right_row() const { return right_.row(); }
  // From the first left row on. `kept`: not for the last time.
  void start_left(bool kept) { left_.start(batch_.left, kept); }
  const Datum* next_left() { return left_.next(); }

 private:
  struct Batch {
    Tape left;
    Tape right;
    unsigned depth = 0;
    bool may_divide = true;
  };
  static uint64_t hash_of(const Datum* row) { return static_cast<uint64_t>(row[0].i64); }
  void divide();
  std::vector<Tape> divide(TapeReader& reader, const Tape& tape, const TapeColumns& layout,
                           size_t count);
  void add_batches(const std::vector<Tape>& left, const std::vector<Tape>& right, unsigned depth,
                   uint64_t rows);
  double table_bytes(const Tape& right) const;
  bool is_of_part(uint64_t hash) const { return (hash >> 20) % part_scale < part_; }
  const Datum* next_first();

  const JoinSides& sides_;
  ExecutionContext& session_;
  const size_t budget_;
  SpillFile file_;
  const size_t count_;  // of partitions in the first division
  std::unique_ptr<SpillPartitions> dividing_;
  std::vector<Tape> divided_right_;
  // The first batch: whole partitions, or, if there is room for none, a part of one.
  static constexpr size_t none = SIZE_MAX;
  static constexpr uint64_t part_scale = 1024;
  std::vector<bool> is_first_;  // by number
  size_t next_first_ = 0;       // whose tape is to be read next
  size_t parted_ = none;
  uint64_t part_ = 0;  // of part_scale
  bool reads_first_ = false;
  bool reads_part_ = false;
  TapeReader left_;
  TapeReader right_;
  TapeWriter rest_;  // of the partition of which the first batch has a part
  std::vector<Batch> waiting_;
  Batch batch_;
  unsigned depth_ = 0;  // of the division under way
};

}  // namespace pgsilo
