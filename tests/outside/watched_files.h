// The files and directories that a watched process has open, and the notes
// about what it does to them. Which those are says the environment:
//   PGSILO_FAULT_ROOT      a directory: everything below it is watched
//   PGSILO_FAULT_SCHEDULE  the rules (schedule.h); may be missing
//   PGSILO_FAULT_JOURNAL   the journal (journal.h); may be missing
//   PGSILO_FAULT_KEEP      the keep of the journal
//
// Thread safety: any thread. Two writes of the same bytes of a file at the same
// time are noted in any order.
#pragma once

#include <sys/uio.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "tests/outside/journal.h"
#include "tests/outside/schedule.h"

namespace outside {

struct OpenFile {
  uint64_t file = 0;
  int flags = 0;
  bool directory = false;
  std::string path;  // the newest name
};

class WatchedFiles {
 public:
  // Null if nothing is watched. Asked for before main(), before there may be
  // memory: needs none then.
  static WatchedFiles* instance();

  // The absolute path if it is watched, else empty. `directory` as in openat().
  std::string watched(int directory, const char* path);
  // What is known of the descriptor; null if it is not watched. Cheap for
  // those.
  std::shared_ptr<const OpenFile> find(int descriptor);
  void opened(int descriptor, int flags, const std::string& path);
  void duplicated(int from, int to);
  void closed(int descriptor);

  Verdict judge(CallKind kind, const std::string& path) {
    return judge_call(schedule_, kind, path);
  }

  // The notes, each begun when it is returned; null if none are kept. end()
  // takes null, too.
  Note* write(int descriptor, const OpenFile& file, uint64_t offset, uint64_t length, bool sync);
  Note* resize(int descriptor, const OpenFile& file, uint64_t bytes);
  Note* sync(const OpenFile& file);
  // Of names: held until the call has returned, so that names are noted in the
  // order in which they change.
  std::unique_lock<std::recursive_mutex> name_order() { return std::unique_lock(names_); }
  Note* name(Change change, const std::string& path);
  Note* rename(const std::string& from, const std::string& to);
  void renamed(const std::string& from, const std::string& to);
  void end(Note* note, bool done);

  // Links of a file that are not the watcher's own.
  uint64_t visible_links(uint64_t file, uint64_t links);

 private:
  WatchedFiles(const char* root, const char* schedule, const char* journal, const char* keep);
  bool below_root(const std::string& path) const;
  void hold(uint64_t file, const char* path);
  Note* name_note(Change change, const std::string& payload, const std::string& directory);

  static constexpr size_t descriptors = 1 << 16;

  const std::string root_;
  const std::string keep_;
  ScheduleMemory* const schedule_;
  JournalMemory* const journal_;
  std::recursive_mutex names_;
  std::mutex mutex_;  // of open_
  std::unordered_map<int, std::shared_ptr<OpenFile>> open_;
  std::array<std::atomic<bool>, descriptors> is_open_{};
};

// What the interposed calls themselves use: the system's own.
int plain_open(const char* path, int flags, unsigned mode = 0);
void plain_close(int descriptor);
// Inode number and size of a path or descriptor; zeros if there is none.
struct FileFacts {
  uint64_t file = 0;
  uint64_t bytes = 0;
  bool directory = false;
  bool regular = false;
};
FileFacts facts_of(const char* path);
FileFacts facts_of(int descriptor);

}  // namespace outside
