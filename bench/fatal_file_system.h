// The process's file system, which kills the process when it is about to complete a checkpoint: the
// moment at which a recovery has the most to read. Thread safety: as FileSystem; arm(): any thread.
#pragma once

#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <utility>

#include "base/file_forwarding.h"
#include "wal/layout/control_file.h"

namespace pgsilo {

class FatalFileSystem final : public ForwardingFileSystem {
 public:
  explicit FatalFileSystem(std::unique_ptr<FileSystem> files)
      : ForwardingFileSystem(*files), owned_(std::move(files)) {}

  // From now on the `checkpoints`th one is not completed: the control file that names it is written
  // but does not take its place. 0: all are.
  void arm(uint64_t checkpoints) { left_.store(checkpoints, std::memory_order_relaxed); }

  FileResult rename(const std::string& from, const std::string& to) override {
    bool completes = to.ends_with(control_file_name) && left_.load(std::memory_order_relaxed) != 0;
    if (completes && left_.fetch_sub(1, std::memory_order_relaxed) == 1)
      static_cast<void>(std::raise(SIGKILL));
    return files_.rename(from, to);
  }
  // As the file system does it, a little at a time: the workers of a benchmark go on beside it.
  FileResult remove_gradually(const std::string& path) override {
    return files_.remove_gradually(path);
  }

 private:
  const std::unique_ptr<FileSystem> owned_;
  std::atomic<uint64_t> left_{0};
};

}  // namespace pgsilo
