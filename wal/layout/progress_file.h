// How far the logs of the newest incarnation had got, written down beside them (docs/log_format.md,
// "Marks of progress"). The end of a log is the only place that tells where it ends: without a
// mark, a log that lost its last segments, or was put back from a copy, looks like one that was
// torn there.
//
// Two marks, written in turn, in place: one may be torn, then the other is right, if older. The
// file is made anew by each start before the control file names its incarnation. Thread safety:
// values; ProgressFile: one owner. Failures: what a mark says is true if it was written or not.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/random.h"
#include "storage/epoch/epoch.h"

namespace pgsilo {

inline constexpr char progress_file_name[] = "pgsilo.progress";

struct LogProgress {
  Uuid log;
  uint64_t segment = 0;  // that was being written, or an earlier one; for messages
  uint64_t blocks = 0;   // those of lower numbers were on disk
};

struct ProgressMark {
  uint64_t sequence = 0;  // the newer mark has the larger one
  uint64_t incarnation = 0;
  Uuid id;         // of the incarnation
  Epoch recorded;  // D that trailers on disk proved
  std::vector<LogProgress> logs;
};

// Null: the mark, or null, says nothing of that log.
const LogProgress* progress_of(const ProgressMark* mark, const Uuid& log);

enum class ProgressRead : uint8_t { ok, missing, unreadable, damaged };
// Newest first; one or two. `*failure`: why it is unreadable.
ProgressRead read_progress(FileSystem& files, const std::string& directory, const Uuid& database,
                           std::vector<ProgressMark>* marks, FileResult* failure);

class ProgressFile {
 public:
  ProgressFile(FileSystem& files, const std::string& directory, const Uuid& database)
      : files_(files), path_(join_path(directory, progress_file_name)), database_(database) {}

  // Makes the file anew, atomically and durably, with this mark and, if not null, the one before.
  // Sets the mark's sequence.
  FileResult create(ProgressMark mark, const ProgressMark* before);
  // Goes on with the file that is there, if it has the mark `before`: this one takes the place of
  // the other, durably. Else as create(). All that was written to the file must be durable.
  FileResult go_on(ProgressMark mark, const ProgressMark& before);
  // Puts the next mark in the place of the older one; durable when it returns. Sets its sequence.
  FileResult write(ProgressMark mark);

 private:
  bool find(const ProgressMark& mark, unsigned* place) const;

  FileSystem& files_;
  const std::string path_;
  const Uuid database_;
  std::unique_ptr<File> file_;
  uint64_t sequence_ = 0;  // of the last mark
  unsigned next_place_ = 1;
};

}  // namespace pgsilo
