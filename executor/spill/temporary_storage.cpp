#include "executor/spill/temporary_storage.h"

#include <unistd.h>

#include <utility>

#include "base/crash_report.h"
#include "base/failed_call.h"
#include "base/parker.h"
#include "base/process_memory.h"
#include "base/server_log.h"
#include "executor/spill/block_format.h"
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
    std::lock_guard lock(mutex_);
    remover_ends_ = true;
  }
  closed_.notify_all();
  hurries_.notify_all();
  if (remover_.joinable()) remover_.join();
}

void TemporaryStorage::FileQueue::push(std::unique_ptr<FileNode> node) {
  node->next = nullptr;
  FileNode* pushed = node.release();
  (first_ == nullptr ? first_ : last_->next) = pushed;
  last_ = pushed;
}

std::unique_ptr<TemporaryStorage::FileNode> TemporaryStorage::FileQueue::pop() {
  std::unique_ptr<FileNode> node(first_);
  first_ = node->next;
  return node;
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
FileResult TemporaryStorage::make_file(FileNode& node) {
  OpenFlags flags{.write = true, .create = true, .exclusive = true};
  FileResult result = files_.open(node.path, flags, &node.file);
  if (result.status != FileStatus::not_found) return result;
  result = files_.create_directory(directory_);
  if (!result.ok() && result.status != FileStatus::already_exists) return result;
  return files_.open(node.path, flags, &node.file);
}

std::shared_ptr<TemporaryStorage::OpenFile> TemporaryStorage::take_place() {
  auto node = std::make_unique<FileNode>();
  std::lock_guard lock(mutex_);
  if (places_taken_ >= most_files_) {
    throw SqlError(sqlstate::insufficient_resources,
                   concat("out of file descriptors: ", most_files_,
                          " temporary files are in use, and the server can have no more"))
        .hint(
            "Run fewer statements at a time that sort or hash more than work_mem, raise "
            "work_mem, or raise the limit of open files (ulimit -n) of the server.");
  }
  node->path = join_path(directory_, concat(getpid(), ".", files_named_++));
  auto taken = std::make_shared<OpenFile>(*this, std::move(node));
  ++places_taken_;
  return taken;
}

void TemporaryStorage::submit(Transfer& transfer, Parker* parker) {
  transfer.awaited_ = 0;
  submit_again(transfer, parker);
}

void TemporaryStorage::submit_again(Transfer& transfer, Parker* parker) {
  transfer.result = {};
  transfer.is_damaged = false;
  std::unique_lock lock(mutex_);
  if (parker == nullptr || threads_.empty()) {
    transfer.removed_before_ = removed_;
    transfer.pieces_before_ = pieces_;
    lock.unlock();
    transfer_now(transfer);
    transfer.state_ = Transfer::State::done;
    return;
  }
  transfer.state_ = Transfer::State::waits;
  transfer.parker_ = parker;
  waiting_.push_back(transfer);
  lock.unlock();
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

// Files that wait to be closed come first: when one is made none of them has a descriptor, but for
// those that other threads close just now.
void TemporaryStorage::serve() {
  take_thread_memory();
  CrashStack crash_stack;
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, [this] { return ends_ || !waiting_.empty() || !to_close_.empty(); });
    if (!to_close_.empty()) {
      close_file(lock);
    } else if (!waiting_.empty()) {
      run_transfer(lock);
    } else {
      return;
    }
  }
}

void TemporaryStorage::close_file(std::unique_lock<std::mutex>& lock) {
  std::unique_ptr<FileNode> node = to_close_.pop();
  lock.unlock();
  node->file.reset();
  lock.lock();
  to_remove_.push(std::move(node));
  closed_.notify_one();
}

void TemporaryStorage::run_transfer(std::unique_lock<std::mutex>& lock) {
  Transfer& transfer = waiting_.front();
  waiting_.pop_front();
  transfer.state_ = Transfer::State::runs;
  transfer.removed_before_ = removed_;
  transfer.pieces_before_ = pieces_;
  lock.unlock();
  transfer_now(transfer);
  lock.lock();
  transfer.state_ = Transfer::State::done;
  if (transfer.parker_ != nullptr) transfer.parker_->unpark();
  if (!transfer.is_abandoned_) return;
  lock.unlock();
  delete &transfer;  // perhaps the last to hold the file
  lock.lock();
}

void TemporaryStorage::transfer_now(Transfer& transfer) {
  switch (transfer.kind) {
    case Transfer::Kind::create:
      transfer.result = make_file(*transfer.file->node_);
      break;
    case Transfer::Kind::read:
      read(transfer);
      break;
    case Transfer::Kind::write:
      write(transfer);
      break;
  }
}

void TemporaryStorage::write(Transfer& transfer) {
  size_t bytes = seal_block(transfer.buffer.get(), transfer.block);
  transfer.result = transfer.file->file().write_unsynced(transfer.buffer.get(), bytes,
                                                         transfer.block * transfer.block_bytes);
}

void TemporaryStorage::read(Transfer& transfer) {
  size_t got = 0;
  transfer.result = transfer.file->file().read_at(transfer.buffer.get(), transfer.block_bytes,
                                                  transfer.block * transfer.block_bytes, &got);
  if (transfer.result.ok())
    transfer.is_damaged = !is_block_whole(transfer.buffer.get(), got, transfer.block);
}

void TemporaryStorage::retire(std::unique_ptr<FileNode> node) {
  bool was_made = node->file != nullptr;
  std::unique_lock lock(mutex_);
  --places_taken_;
  if (!was_made) return;
  if (threads_.empty()) {
    lock.unlock();
    node->file.reset();
    return remove(*node);
  }
  ++retired_;
  to_close_.push(std::move(node));
  lock.unlock();
  arrived_.notify_one();
}

void TemporaryStorage::remove_files() {
  take_thread_memory();
  CrashStack crash_stack;
  std::unique_lock lock(mutex_);
  while (true) {
    closed_.wait(lock, [this] { return remover_ends_ || !to_remove_.empty(); });
    if (to_remove_.empty()) return;
    std::unique_ptr<FileNode> node = to_remove_.pop();
    lock.unlock();
    remove(*node);
    node.reset();
    lock.lock();
    ++removed_;
    note_space();
  }
}

void TemporaryStorage::remove(const FileNode& node) {
  FileResult result = files_.remove_in_pieces(node.path, *this);
  if (!result.ok())
    write_server_log(LogLevel::warning, could_not("remove file", node.path, result));
}

// Nobody rests while somebody waits for space.
void TemporaryStorage::rest(std::chrono::nanoseconds wanted) {
  std::unique_lock lock(mutex_);
  note_space();
  hurries_.wait_for(lock, wanted, [this] { return remover_ends_ || !space_waits_.empty(); });
}

void TemporaryStorage::note_space() {
  ++pieces_;
  for (SpaceWait& wait : space_waits_) wait.parker_.unpark();
}

TemporaryStorage::SpaceWait::SpaceWait(TemporaryStorage& storage, Transfer& transfer,
                                       Parker& parker)
    : storage_(storage), transfer_(transfer), parker_(parker) {
  std::lock_guard lock(storage_.mutex_);
  if (transfer_.awaited_ == 0) transfer_.awaited_ = storage_.retired_;
  storage_.space_waits_.push_back(*this);
  storage_.hurries_.notify_one();
}

TemporaryStorage::SpaceWait::~SpaceWait() {
  std::lock_guard lock(storage_.mutex_);
  storage_.space_waits_.erase(storage_.space_waits_.iterator_to(*this));
}

TemporaryStorage::SpaceWait::Outlook TemporaryStorage::SpaceWait::outlook() {
  std::lock_guard lock(storage_.mutex_);
  if (transfer_.removed_before_ >= transfer_.awaited_) return Outlook::none;
  return transfer_.pieces_before_ != storage_.pieces_ ? Outlook::came : Outlook::awaited;
}

}  // namespace pgsilo
