// How an incarnation begins on disk (docs/recovery.md, step 6).
#include "base/product_version.h"
#include "wal/log/log_begin.h"
#include "wal/wal_state.h"

namespace pgsilo {

Incarnation Wal::State::next_incarnation() const {
  Incarnation incarnation;
  incarnation.number = control.last_incarnation + 1;
  incarnation.id = Uuid::generate();
  incarnation.parent = newest_state(control, analysis.forgotten);
  incarnation.segment_bytes = options.segment_bytes;
  incarnation.first_epoch = first_epoch;
  for (const LogUnit& unit : units)
    incarnation.logs.push_back({unit.directory->log(), unit.directory->path()});
  return incarnation;
}

// What must be there before the control file names the incarnation: the first block of each log,
// and the file that says how far they have got.
bool Wal::State::begin_logs(std::string* why) {
  const Incarnation& incarnation = control.incarnations.back();
  std::vector<Logger*> loggers;
  for (uint32_t i = 0; i < units.size(); ++i) {
    LogBegin begin{.database = control.database,
                   .incarnation = incarnation.id,
                   .parent = incarnation.parent,
                   .first_epoch = incarnation.first_epoch,
                   .unix_time_us = begun_us,
                   .segment_bytes = incarnation.segment_bytes,
                   .logs = static_cast<uint32_t>(units.size()),
                   .index = i,
                   .compressed = options.compress,
                   .writer = std::string(product_version)};
    FileResult result = units[i].logger->begin(encode_log_begin(begin));
    loggers.push_back(units[i].logger.get());
    if (result.ok()) continue;
    *why = "could not begin the log in \"" + units[i].directory->path() + "\": " + result.text();
    return false;
  }
  marks = std::make_unique<ProgressMarks>(*progress, *commit, loggers, incarnation.number,
                                          incarnation.id);
  auto create = [&] {
    if (mark && clean_before) return progress->go_on(marks->now(), *mark);
    return progress->create(marks->now(), mark ? &*mark : nullptr);
  };
  std::string what = "file \"" + join_path(directory, progress_file_name) + "\"";
  if (!write_small(what, directory, create, why)) return false;
  keeper->set_marks(marks.get());
  return true;
}

}  // namespace pgsilo
