// A directory of checkpoints' files. Its lock keeps a second server away, also one on a copy of the
// database, and tells that one directory was named twice. Thread safety: none; one owner.
#pragma once

#include <memory>
#include <string>

#include "base/file.h"

namespace pgsilo {

class CheckpointDirectory {
 public:
  // `name` as configured: a relative one lies in `data_directory`.
  CheckpointDirectory(FileSystem& files, const std::string& data_directory, std::string name)
      : files_(files), name_(std::move(name)), path_(join_path(data_directory, name_)) {}

  // Makes it if it is missing, and locks it. False: `why`.
  bool open(std::string* why);

  const std::string& name() const { return name_; }
  const std::string& path() const { return path_; }

 private:
  bool failed(const char* what, const FileResult& result, std::string* why) const;

  FileSystem& files_;
  const std::string name_;
  const std::string path_;
  std::unique_ptr<File> lock_;
};

}  // namespace pgsilo
