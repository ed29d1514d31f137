// Starts of a server that its archive has in part, of which nothing counts: the archiver was killed
// while it copied them, the server was lost, and restored to the state before them. Thread safety:
// none; one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wal/backup/archive_directory.h"
#include "wal/backup/archived_starts.h"

namespace pgsilo {

class UnfinishedStarts {
 public:
  // Of an archive, and of the server that was restored. `named`: those that the server's control
  // file knows yet. `ends`: up to where all was archived once.
  UnfinishedStarts(FileSystem& files, std::vector<const LogDirectory*> archived,
                   std::vector<const LogDirectory*> server, HistoryPoint restored,
                   std::vector<Incarnation> named, std::vector<ArchivedEnd> ends)
      : files_(files),
        archived_(std::move(archived)),
        server_(std::move(server)),
        restored_(restored),
        named_(std::move(named)),
        ends_(std::move(ends)) {}

  // Enters a start, and those between the restored state and it, if none of them counts.
  void add(uint64_t tag);
  const std::vector<uint64_t>& tags() const { return tags_; }

  // What could not be read, of which file or directory: then no answer counts.
  const FileResult& failure() const { return failure_; }
  const std::string& failed_path() const { return failed_path_; }

 private:
  bool leads_there(uint64_t tag);
  bool was_archived(uint64_t tag) const;
  bool is_servers(uint64_t tag);
  bool is_there(uint64_t tag, const LogBegin& begin);
  std::optional<LogBegin> begin_in(const std::vector<const LogDirectory*>& logs, uint64_t tag);
  ArchivedStarts starts_in(const std::vector<const LogDirectory*>& logs) const;
  void note(const ArchivedStarts& starts);

  FileSystem& files_;
  const std::vector<const LogDirectory*> archived_;
  const std::vector<const LogDirectory*> server_;
  const HistoryPoint restored_;
  const std::vector<Incarnation> named_;
  const std::vector<ArchivedEnd> ends_;
  std::vector<uint64_t> tags_;
  FileResult failure_;
  std::string failed_path_;
};

}  // namespace pgsilo
