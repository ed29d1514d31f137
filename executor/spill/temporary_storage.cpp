#include "executor/spill/temporary_storage.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/checksum.h"
#include "base/crash_report.h"
#include "base/failed_call.h"
#include "base/parker.h"
#include "base/process_memory.h"
#include "base/server_log.h"
#include "executor/spill/block_format.h"
#include "executor/spill/spill_error.h"
#include "sql/sql_error.h"

namespace pgsilo {

TemporaryStorage::TemporaryStorage(FileSystem& files, std::string directory, size_t most_files)
    : files_(files), directory_(std::move(directory)), most_files_(most_files) {}

// Threads of transfers first: they may be the last to let go of a file.
TemporaryStorage::~TemporaryStorage() {
  {
    std::lock_guard lock(mutex_);
    ends_ = true;
  }
  arrived_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  {
    std::lock_guard lock(removal_mutex_);
    remover_ends_ = true;
  }
  retired_.notify_all();
  if (remover_.joinable()) remover_.join();
}

void TemporaryStorage::remove_stale() {
  std::vector<std::string> names;
  FileResult result = files_.list(directory_, &names);
  if (result.status == FileStatus::not_found) return;
  if (!result.ok()) {
    write_server_log(LogLevel::warning, could_not("read directory", directory_, result));
    return;
  }
  for (const std::string& name : names) {
    std::string path = join_path(directory_, name);
    result = files_.remove(path);
    if (!result.ok()) write_server_log(LogLevel::warning, could_not("remove file", path, result));
  }
}

void TemporaryStorage::start(unsigned threads) {
  if (threads == 0) return;
  remover_ = std::thread([this] { remove_files(); });
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

// The directory is made when it is first needed.
FileResult TemporaryStorage::open_file(const std::string& path, std::unique_ptr<File>* file) {
  OpenFlags flags{.write = true, .create = true, .exclusive = true};
  FileResult result = files_.open(path, flags, file);
  if (result.status != FileStatus::not_found) return result;
  result = files_.create_directory(directory_);
  if (!result.ok() && result.status != FileStatus::already_exists) return result;
  return files_.open(path, flags, file);
}

std::shared_ptr<TemporaryStorage::OpenFile> TemporaryStorage::create() {
  uint64_t number = 0;
  {
    std::lock_guard lock(mutex_);
    if (open_files_ >= most_files_) {
      throw SqlError(sqlstate::insufficient_resources,
                     concat("out of file descriptors: ", most_files_,
                            " temporary files are in use, and the server can have no more"))
          .hint(
              "Run fewer statements at a time that sort or hash more than work_mem, raise "
              "work_mem, or raise the limit of open files (ulimit -n) of the server.");
    }
    ++open_files_;
    number = files_made_++;
  }
  struct Place {
    TemporaryStorage* storage;
    ~Place() {
      if (storage != nullptr) storage->give_back_place();
    }
  } place{this};
  auto node = std::make_unique<FileNode>();
  node->path = join_path(directory_, concat(getpid(), ".", number));
  FileResult result = open_file(node->path, &node->file);
  if (result.status == FileStatus::no_space && wait_for_removals())
    result = open_file(node->path, &node->file);
  if (!result.ok()) throw file_error("create temporary file", node->path, result);
  auto made = std::make_shared<OpenFile>(*this, std::move(node));
  place.storage = nullptr;
  return made;
}

void TemporaryStorage::give_back_place() {
  std::lock_guard lock(mutex_);
  --open_files_;
}

void TemporaryStorage::submit(Transfer& transfer, Parker* parker) {
  transfer.result = {};
  transfer.is_damaged = false;
  if (parker == nullptr || threads_.empty()) {
    transfer_now(transfer);
    transfer.state_ = Transfer::State::done;
    return;
  }
  {
    std::lock_guard lock(mutex_);
    transfer.state_ = Transfer::State::waits;
    transfer.parker_ = parker;
    waiting_.push_back(transfer);
  }
  arrived_.notify_one();
}

bool TemporaryStorage::is_done(const Transfer& transfer) {
  std::lock_guard lock(mutex_);
  return transfer.state_ == Transfer::State::done;
}

void TemporaryStorage::abandon(Transfer* transfer) {
  std::unique_ptr<Transfer> ours(transfer);
  std::lock_guard lock(mutex_);
  if (transfer->state_ == Transfer::State::runs) {
    transfer->is_abandoned_ = true;
    transfer->parker_ = nullptr;
    ours.release();  // NOLINT(bugprone-unused-return-value): its thread frees it
  } else if (transfer->is_linked()) {
    waiting_.erase(waiting_.iterator_to(*transfer));
  }
}

void TemporaryStorage::serve() {
  take_thread_memory();
  CrashStack crash_stack;
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Transfer& transfer = waiting_.front();
    waiting_.pop_front();
    transfer.state_ = Transfer::State::runs;
    lock.unlock();
    transfer_now(transfer);
    lock.lock();
    transfer.state_ = Transfer::State::done;
    if (transfer.parker_ != nullptr) transfer.parker_->unpark();
    if (!transfer.is_abandoned_) continue;
    lock.unlock();
    delete &transfer;  // perhaps the last to hold the file
    lock.lock();
  }
}

void TemporaryStorage::transfer_now(Transfer& transfer) {
  if (transfer.kind == Transfer::Kind::write) {
    write(transfer);
  } else {
    read(transfer);
  }
}

void TemporaryStorage::write(Transfer& transfer) {
  size_t bytes = seal_block(transfer.buffer.get(), transfer.block);
  uint64_t offset = transfer.block * transfer.block_bytes;
  File& file = transfer.file->file();
  transfer.result = file.write_at(transfer.buffer.get(), bytes, offset);
  if (transfer.result.status == FileStatus::no_space && wait_for_removals())
    transfer.result = file.write_at(transfer.buffer.get(), bytes, offset);
}

void TemporaryStorage::read(Transfer& transfer) {
  size_t got = 0;
  transfer.result = transfer.file->file().read_at(transfer.buffer.get(), transfer.block_bytes,
                                                  transfer.block * transfer.block_bytes, &got);
  if (transfer.result.ok())
    transfer.is_damaged = !is_block_whole(transfer.buffer.get(), got, transfer.block);
}

void TemporaryStorage::retire(std::unique_ptr<FileNode> node) {
  if (!remover_.joinable()) {
    remove(*node, false);
    return;
  }
  {
    std::lock_guard lock(removal_mutex_);
    node->next = to_remove_;
    to_remove_ = node.release();
    ++removals_;
  }
  retired_.notify_one();
}

// Space that has been let go of counts as free: true if there was some to wait for.
bool TemporaryStorage::wait_for_removals() {
  std::unique_lock lock(removal_mutex_);
  if (removals_ == 0) return false;
  ++in_a_hurry_;
  removed_.wait(lock, [this] { return removals_ == 0; });
  --in_a_hurry_;
  return true;
}

void TemporaryStorage::remove_files() {
  take_thread_memory();
  CrashStack crash_stack;
  std::unique_lock lock(removal_mutex_);
  while (true) {
    retired_.wait(lock, [this] { return remover_ends_ || to_remove_ != nullptr; });
    if (to_remove_ == nullptr) return;
    std::unique_ptr<FileNode> node(to_remove_);
    to_remove_ = node->next;
    bool gradually = in_a_hurry_ == 0 && !remover_ends_;
    lock.unlock();
    remove(*node, gradually);
    node.reset();
    lock.lock();
    if (--removals_ == 0) removed_.notify_all();
  }
}

void TemporaryStorage::remove(FileNode& node, bool gradually) {
  node.file.reset();
  give_back_place();
  FileResult result = gradually ? files_.remove_gradually(node.path) : files_.remove(node.path);
  if (!result.ok())
    write_server_log(LogLevel::warning, could_not("remove file", node.path, result));
}

}  // namespace pgsilo
