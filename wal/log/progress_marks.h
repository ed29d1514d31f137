// Writes the marks of progress (wal/layout/progress_file.h) of this incarnation: whenever a log has
// begun another segment, and when nothing has been written for a moment; never on the way of a
// commit. Thread safety: none; the segment keeper.
#pragma once

#include <cstdint>
#include <vector>

#include "wal/layout/progress_file.h"

namespace pgsilo {

class GroupCommit;
class Logger;

class ProgressMarks {
 public:
  // All outlive it. `file` has the mark with which the incarnation began.
  ProgressMarks(ProgressFile& file, const GroupCommit& commit, std::vector<Logger*> loggers,
                uint64_t incarnation, const Uuid& id);

  // How far the logs have got.
  ProgressMark now() const;
  // Whether a log has begun another segment since the last mark.
  bool segment_begun() const;
  // Whether anything has been written since the last mark.
  bool behind() const { return written() != marked_; }
  // Blocks of all logs that are on disk.
  uint64_t written() const;
  FileResult write();

 private:
  ProgressFile& file_;
  const GroupCommit& commit_;
  const std::vector<Logger*> loggers_;
  const uint64_t incarnation_;
  const Uuid id_;
  uint64_t marked_;                 // written() of the last mark
  std::vector<uint64_t> segments_;  // of the last mark, by logger
};

}  // namespace pgsilo
