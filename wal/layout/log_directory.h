// One log directory: its identity file says whose logs it holds, so that a missing, foreign or
// shared one is noticed before anything is written (docs/log_format.md). The lock keeps a second
// server away. Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/random.h"

namespace pgsilo {

// The file in a log directory that says whose it is.
inline constexpr char log_identity_name[] = "log.identity";

class LogDirectory {
 public:
  LogDirectory(FileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}

  // Reads the identity; `has_identity()` tells whether there was one. False: `why`, and whether a
  // call failed, which may go better.
  bool read_identity(std::string* why, bool* call_failed = nullptr);
  // The same, and locks the directory.
  bool open(std::string* why, bool* call_failed = nullptr);
  // Whether it may be made one: it is missing, or holds no segment. False: `why`.
  bool is_unclaimed(std::string* why) const;
  // Makes it a log directory of `database`; it is unclaimed.
  bool initialise(const Uuid& database, std::string* why);

  const std::string& path() const { return path_; }
  bool has_identity() const { return has_identity_; }
  const Uuid& database() const { return database_; }
  const Uuid& log() const { return log_; }

  // The numbers of its segments, ascending.
  FileResult list_segments(std::vector<uint64_t>* numbers) const;
  FileResult remove_unfinished_segments() const;
  std::string segment_path(uint64_t number) const;

 private:
  bool lock(std::string* why, bool* call_failed);

  FileSystem& files_;
  std::string path_;
  bool has_identity_ = false;
  Uuid database_;
  Uuid log_;
  std::unique_ptr<File> lock_;
};

// Takes the exclusive lock on a data directory; keep the file as long as the directory is in use.
// Null: `why`.
std::unique_ptr<File> lock_data_directory(FileSystem& files, const std::string& directory,
                                          std::string* why);
// The same for one who writes nothing, not even who he is. No file and true: no server has ever
// locked the directory. False: `why`.
bool hold_data_directory(FileSystem& files, const std::string& directory,
                         std::unique_ptr<File>* lock, std::string* why);

}  // namespace pgsilo
