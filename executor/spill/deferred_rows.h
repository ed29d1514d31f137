// Rows of a hash table's input that have to wait, because they would begin what the table has no
// room for: in partitions of a temporary file, each of which is an input of its own then.
//
//   while (input) { ...; deferred.append(row, budget); }  deferred.end_pass();
//   while (deferred.begin_pass()) { while (const Datum* row = deferred.next()) ...;  end_pass(); }
//
// A row begins with its hash. Thread safety: one operator's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "executor/execution_context.h"
#include "executor/spill/partitions.h"

namespace pgsilo {

class DeferredRows {
 public:
  DeferredRows(const TapeColumns& layout, ExecutionContext& session)
      : layout_(layout), session_(session) {}
  DeferredRows(const DeferredRows&) = delete;
  DeferredRows& operator=(const DeferredRows&) = delete;

  // The next pass is the first one again.
  void clear();
  // Something waits, so that in this pass nothing new begins.
  bool is_deferring() const { return partitions_ != nullptr; }
  // Else the table has to take all that comes: nothing can spill, or the hash has no bits left.
  bool may_defer() const {
    return session_.temporary_files != nullptr && depth_ <= SpillPartitions::most_depth;
  }
  // `budget`: the operator's, by which the file's blocks are measured.
  void append(const Datum* row, size_t budget);
  // The pass has no more rows.
  void end_pass();
  // False: nothing waits.
  bool begin_pass();
  // Of the pass; null behind the last one. Valid until the next one. Gives way.
  const Datum* next();

 private:
  struct Waiting {
    Tape tape;
    unsigned depth;
  };
  const TapeColumns& layout_;
  ExecutionContext& session_;
  std::unique_ptr<SpillFile> file_;
  std::unique_ptr<SpillPartitions> partitions_;
  std::unique_ptr<TapeReader> reader_;
  std::vector<Waiting> waiting_;
  unsigned depth_ = 0;  // of the pass
};

}  // namespace pgsilo
