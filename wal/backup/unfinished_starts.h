// Starts at the ends of an archive's logs whose server was lost, and restored to the state before
// them: those of which nothing counts, for the archiver was killed while it copied them, and those
// that count, which are another copy's of the database. Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wal/backup/archive_directory.h"
#include "wal/backup/archived_starts.h"

namespace pgsilo {

enum class ArchivedStart {
  its,         // the server's, or nothing tells that it is not
  unfinished,  // no state of it could be restored, and the server never had it
  others,
};

class UnfinishedStarts {
 public:
  // Of an archive, and of the server that was restored. `named`: those that the server's control
  // file knows yet. `ends`: up to where all was archived once; none: that is not known.
  UnfinishedStarts(FileSystem& files, std::vector<const LogDirectory*> archived,
                   std::vector<const LogDirectory*> server, HistoryPoint restored,
                   std::vector<Incarnation> named, std::optional<std::vector<ArchivedEnd>> ends)
      : files_(files),
        archived_(std::move(archived)),
        server_(std::move(server)),
        restored_(restored),
        named_(std::move(named)),
        ends_(std::move(ends)) {}

  // Whose the start is that wrote `first`, an archived block.
  ArchivedStart judge(const BlockHeader& first);

  // What could not be read, of which file or directory: then no answer counts.
  const FileResult& failure() const { return failure_; }
  const std::string& failed_path() const { return failed_path_; }

 private:
  struct Begin {
    LogBegin says;
    size_t archived = 0;  // logs of the archive that have it
    bool in_server = false;
  };

  bool is_named(uint64_t tag) const;
  void find_begins();
  bool add_begins(const LogDirectory& log, bool is_servers);
  void find_own();
  bool is_its(uint64_t tag) const;
  ArchivedStart judge_behind(uint64_t tag);
  ArchivedStart find(uint64_t tag, const Begin& begin);
  bool was_archived(uint64_t tag) const;
  bool is_there(uint64_t tag, const Begin& begin);
  bool is_second_of_its_number(const BlockHeader& first);
  ArchivedStarts starts() const;
  bool note(const FileResult& result, const std::string& path);

  FileSystem& files_;
  const std::vector<const LogDirectory*> archived_;
  const std::vector<const LogDirectory*> server_;
  const HistoryPoint restored_;
  const std::vector<Incarnation> named_;
  const std::optional<std::vector<ArchivedEnd>> ends_;
  bool looked_ = false;               // for begins_ and own_
  std::map<uint64_t, Begin> begins_;  // since that state, by tag
  std::vector<uint64_t> own_;         // starts from the restored state to the present one
  bool knows_own_ = false;            // all of them
  std::map<uint64_t, ArchivedStart> judged_;
  FileResult failure_;
  std::string failed_path_;
};

}  // namespace pgsilo
