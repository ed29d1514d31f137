// A disk that waits where a test wants, and fails what it wants. Who waits for more than some
// seconds goes on, so that a test fails rather than hangs. Thread safety: any thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/file_forwarding.h"

namespace pgsilo::testing {

class GatedFiles final : public ForwardingFileSystem {
 public:
  enum class Call : uint8_t { create, read, write, remove };
  using ForwardingFileSystem::ForwardingFileSystem;

  // Whoever comes behind `passing` others waits, until it is let go.
  void hold(Call call, int passing = 0) {
    std::lock_guard lock(mutex_);
    gate(call).passing = passing;
  }
  // So many more, or all.
  void let_go(Call call, int passing = all) {
    std::lock_guard lock(mutex_);
    gate(call).passing = passing;
    changed_.notify_all();
  }
  // Behind `passing` others, `times` fail.
  void fail(Call call, FileResult result, int times = all, int passing = 0) {
    std::lock_guard lock(mutex_);
    gate(call).failure = result;
    gate(call).failures = times;
    gate(call).good = passing;
  }
  int held(Call call) {
    std::lock_guard lock(mutex_);
    return gate(call).held;
  }
  bool await_held(Call call, int count = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return gate(call).held >= count; });
  }
  // Reads find the end there.
  void end_files_at(uint64_t offset) { end_ = offset; }
  int open_files() {
    std::lock_guard lock(mutex_);
    return open_files_;
  }
  int most_open_files() {
    std::lock_guard lock(mutex_);
    return most_open_files_;
  }

  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override {
    FileResult result = pass(Call::create);
    if (!result.ok()) return result;
    std::unique_ptr<File> opened;
    result = files_.open(path, flags, &opened);
    if (result.ok()) *file = std::make_unique<GatedFile>(*this, std::move(opened));
    return result;
  }
  FileResult remove(const std::string& path) override {
    FileResult result = pass(Call::remove);
    return result.ok() ? files_.remove(path) : result;
  }

  static constexpr FileResult no_space{FileStatus::no_space, 0};
  static constexpr FileResult failed{FileStatus::failed, 0};

 private:
  static constexpr int all = 1 << 30;
  static constexpr std::chrono::seconds patience{3};
  struct Gate {
    int passing = all;
    int held = 0;
    int failures = 0;
    int good = 0;
    FileResult failure;
  };

  class GatedFile final : public File {
   public:
    GatedFile(GatedFiles& files, std::unique_ptr<File> inner)
        : File(false), files_(files), inner_(std::move(inner)) {
      files_.count(1);
    }
    ~GatedFile() override { files_.count(-1); }
    FileResult size(uint64_t* bytes) override { return inner_->size(bytes); }
    FileResult allocate(uint64_t bytes) override { return inner_->allocate(bytes); }
    FileResult try_lock() override { return inner_->try_lock(); }
    FileResult is_at(const std::string& path, bool* is) const override {
      return inner_->is_at(path, is);
    }

   private:
    FileResult do_write(const void* data, size_t bytes, uint64_t offset, size_t* done) override {
      FileResult result = files_.pass(Call::write);
      if (result.ok()) result = inner_->write_unsynced(data, bytes, offset);
      *done = result.ok() ? bytes : 0;
      return result;
    }
    FileResult do_read(void* data, size_t bytes, uint64_t offset, size_t* done) override {
      FileResult result = files_.pass(Call::read);
      uint64_t end = std::max<uint64_t>(files_.end_, offset);
      return result.ok()
                 ? inner_->read_at(data, std::min<uint64_t>(bytes, end - offset), offset, done)
                 : result;
    }
    FileResult do_sync() override { return inner_->sync_data(); }

    GatedFiles& files_;
    std::unique_ptr<File> inner_;
  };

  Gate& gate(Call call) { return gates_[static_cast<size_t>(call)]; }
  FileResult pass(Call call) {
    std::unique_lock lock(mutex_);
    Gate& at = gate(call);
    ++at.held;
    changed_.notify_all();
    changed_.wait_for(lock, patience, [&] { return at.passing > 0; });
    --at.held;
    --at.passing;
    if (at.failures == 0 || at.good-- > 0) return {};
    --at.failures;
    return at.failure;
  }
  void count(int difference) {
    std::lock_guard lock(mutex_);
    open_files_ += difference;
    most_open_files_ = std::max(most_open_files_, open_files_);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Gate, 4> gates_;
  std::atomic<uint64_t> end_{UINT64_MAX};
  int open_files_ = 0;
  int most_open_files_ = 0;
};

}  // namespace pgsilo::testing
