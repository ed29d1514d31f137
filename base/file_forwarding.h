// Another file system as it is: the base of those that watch, refuse or fail some of its calls.
// remove_gradually() and remove_in_pieces() come through remove(), so that one override refuses
// all. Thread safety: the other's; it outlives this one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"

namespace pgsilo {

class ForwardingFileSystem : public FileSystem {
 public:
  explicit ForwardingFileSystem(FileSystem& files) : files_(files) {}

  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override {
    return files_.open(path, flags, file);
  }
  FileResult rename(const std::string& from, const std::string& to) override {
    return files_.rename(from, to);
  }
  FileResult remove(const std::string& path) override { return files_.remove(path); }
  FileResult create_directory(const std::string& path) override {
    return files_.create_directory(path);
  }
  FileResult list(const std::string& directory, std::vector<std::string>* names) override {
    return files_.list(directory, names);
  }
  FileResult sync_directory(const std::string& directory) override {
    return files_.sync_directory(directory);
  }
  FileResult hold_directory(const std::string& directory) override {
    return files_.hold_directory(directory);
  }
  FileResult real_path(const std::string& directory, std::string* real) override {
    return files_.real_path(directory, real);
  }
  FileResult space(const std::string& directory, DeviceSpace* space) override {
    return files_.space(directory, space);
  }

 protected:
  FileSystem& files_;
};

}  // namespace pgsilo
