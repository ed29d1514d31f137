// The process's file system, which kills the process when it is about to complete a checkpoint: the
// moment at which a recovery has the most to read. Thread safety: as FileSystem; arm(): any thread.
#pragma once

#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "wal/layout/control_file.h"

namespace pgsilo {

class FatalFileSystem final : public FileSystem {
 public:
  explicit FatalFileSystem(std::unique_ptr<FileSystem> files) : files_(std::move(files)) {}

  // From now on the `checkpoints`th one is not completed: the control file that names it is written
  // but does not take its place. 0: all are.
  void arm(uint64_t checkpoints) { left_.store(checkpoints, std::memory_order_relaxed); }

  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override {
    return files_->open(path, flags, file);
  }
  FileResult rename(const std::string& from, const std::string& to) override {
    bool completes = to.ends_with(control_file_name) && left_.load(std::memory_order_relaxed) != 0;
    if (completes && left_.fetch_sub(1, std::memory_order_relaxed) == 1)
      static_cast<void>(std::raise(SIGKILL));
    return files_->rename(from, to);
  }
  FileResult remove(const std::string& path) override { return files_->remove(path); }
  FileResult remove_gradually(const std::string& path) override {
    return files_->remove_gradually(path);
  }
  FileResult create_directory(const std::string& path) override {
    return files_->create_directory(path);
  }
  FileResult list(const std::string& directory, std::vector<std::string>* names) override {
    return files_->list(directory, names);
  }
  FileResult sync_directory(const std::string& directory) override {
    return files_->sync_directory(directory);
  }
  FileResult hold_directory(const std::string& directory) override {
    return files_->hold_directory(directory);
  }
  FileResult space(const std::string& directory, DeviceSpace* space) override {
    return files_->space(directory, space);
  }

 private:
  const std::unique_ptr<FileSystem> files_;
  std::atomic<uint64_t> left_{0};
};

}  // namespace pgsilo
