// Starts at the ends of an archive's logs that a server which was lost, and restored to the state
// before them, never had: those of which nothing counts, for the archiver was killed while it
// copied them. Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "wal/backup/archive_directory.h"
#include "wal/backup/archived_starts.h"
#include "wal/layout/control_file.h"

namespace pgsilo {

enum class ArchivedStart {
  its,         // the server's, or nothing tells that it is not
  unfinished,  // no state of it could be restored, and the server never had it
  others,      // there whole, and the server went past it
};

class UnfinishedStarts {
 public:
  // Of an archive, and of the server. `restored`: the state that it was restored to. `control`: its
  // control file. `ends`: up to where all was archived once; none: that is not known.
  UnfinishedStarts(FileSystem& files, std::vector<FirstBlocks*> archived,
                   std::vector<FirstBlocks*> server, const HistoryPoint& restored,
                   const ControlFile& control, std::optional<std::vector<ArchivedEnd>> ends)
      : files_(files),
        archived_(std::move(archived)),
        server_(std::move(server)),
        restored_(restored),
        control_(control),
        ends_(std::move(ends)) {}

  // Whose the start is that wrote `first`, an archived block.
  ArchivedStart judge(const BlockHeader& first);

  // Then no answer counts.
  const ReadFailure& failure() const { return failure_; }

 private:
  struct Begin {
    LogBegin says;
    size_t archived = 0;  // logs of the archive that have it
    bool in_server = false;
  };

  bool find_begins();
  void add_begins(const FirstBlocks& log, bool is_servers);
  void find_own();
  bool is_its(uint64_t tag) const;
  ArchivedStart judge_behind(uint64_t tag);
  ArchivedStart find(uint64_t tag, const Begin& begin);
  ArchivedStart judged(uint64_t tag) const;
  bool was_archived(uint64_t tag) const;
  bool is_there(uint64_t tag, const Begin& begin);
  ArchivedStarts starts() const;

  FileSystem& files_;
  const std::vector<FirstBlocks*> archived_;
  const std::vector<FirstBlocks*> server_;
  const HistoryPoint restored_;
  const ControlFile& control_;
  const std::optional<std::vector<ArchivedEnd>> ends_;
  bool looked_ = false;               // for begins_ and own_
  std::map<uint64_t, Begin> begins_;  // since that state, by tag
  std::set<uint64_t> own_;            // from the present start back, as far as parents are known
  bool knows_own_ = false;            // all since the restored state
  std::map<uint64_t, ArchivedStart> judged_;
  ReadFailure failure_;
};

}  // namespace pgsilo
