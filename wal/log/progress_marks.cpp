#include "wal/log/progress_marks.h"

#include <utility>

#include "wal/log/group_commit.h"
#include "wal/log/logger.h"

namespace pgsilo {

ProgressMarks::ProgressMarks(ProgressFile& file, const GroupCommit& commit,
                             std::vector<Logger*> loggers, uint64_t incarnation, const Uuid& id)
    : file_(file),
      commit_(commit),
      loggers_(std::move(loggers)),
      incarnation_(incarnation),
      id_(id),
      marked_(written()) {
  for (const LogProgress& log : now().logs) segments_.push_back(log.segment);
}

ProgressMark ProgressMarks::now() const {
  ProgressMark mark{
      .incarnation = incarnation_, .id = id_, .recorded = commit_.recorded(), .logs = {}};
  for (const Logger* logger : loggers_) mark.logs.push_back(logger->progress());
  return mark;
}

bool ProgressMarks::segment_begun() const {
  for (size_t i = 0; i < loggers_.size(); ++i) {
    if (loggers_[i]->progress().segment != segments_[i]) return true;
  }
  return false;
}

uint64_t ProgressMarks::written() const {
  uint64_t blocks = 0;
  for (const Logger* logger : loggers_) blocks += logger->synced_blocks();
  return blocks;
}

FileResult ProgressMarks::write() {
  // Before the rest is looked at: what comes meanwhile is marked the next time.
  uint64_t written_before = written();
  ProgressMark mark = now();
  FileResult result = file_.write(mark);
  if (!result.ok()) return result;
  marked_ = written_before;
  for (size_t i = 0; i < mark.logs.size(); ++i) segments_[i] = mark.logs[i].segment;
  return result;
}

}  // namespace pgsilo
