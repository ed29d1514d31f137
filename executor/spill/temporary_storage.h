// Temporary files of the whole server (docs/spilling.md): their directory, how many there may be,
// the threads that make, read, write and close them while fibers wait, and the one that removes
// them.
//
//   TemporaryStorage storage(files, directory, most_files);
//   storage.remove_stale();  storage.start(threads);       without threads whoever asks waits
//   std::shared_ptr<TemporaryStorage::OpenFile> file = storage.take_place();
//
// Thread safety: any thread. It outlives all of its files.
#pragma once

#include <boost/intrusive/list.hpp>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"

namespace pgsilo {

class Parker;

class TemporaryStorage final : RemovalPace {
 public:
  struct FileNode {
    std::string path;
    std::unique_ptr<File> file;  // null: not made yet, or closed
    FileNode* next = nullptr;
  };
  // A place among the files that may be open, and the file once a transfer has made it. Whoever
  // lets go of it last gives back the place, and does not wait, nor needs memory: to close and to
  // remove it is the threads' matter.
  class OpenFile {
   public:
    OpenFile(TemporaryStorage& storage, std::unique_ptr<FileNode> node)
        : storage_(storage), node_(std::move(node)) {}
    ~OpenFile() { storage_.retire(std::move(node_)); }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    const std::string& path() const { return node_->path; }
    File& file() { return *node_->file; }

   private:
    friend class TemporaryStorage;
    TemporaryStorage& storage_;
    std::unique_ptr<FileNode> node_;
  };

  // What threads do with a file: to make it, or with a block of it. The buffer is the transfer's
  // own, so that it may be left alone.
  class Transfer : public boost::intrusive::list_base_hook<> {
   public:
    enum class Kind : uint8_t { create, read, write };
    std::shared_ptr<OpenFile> file;
    Kind kind = Kind::read;
    uint64_t block = 0;
    size_t block_bytes = 0;
    std::unique_ptr<char[]> buffer;  // of block_bytes
    // Behind its end.
    FileResult result;
    bool is_damaged = false;

   private:
    friend class TemporaryStorage;
    enum class State : uint8_t { waits, runs, done };
    State state_ = State::done;
    bool is_abandoned_ = false;
    Parker* parker_ = nullptr;
    // How far removals had come when this try began; how many files had been retired when the
    // first one found the disk full.
    uint64_t removed_before_ = 0;
    uint64_t pieces_before_ = 0;
    uint64_t awaited_ = 0;
  };
  // Lets go of it at any moment, also within an exception: what waits in the queue leaves it, what
  // runs is freed by its thread; so no more are under way for nobody than there are threads.
  struct Abandon {
    TemporaryStorage* storage = nullptr;
    void operator()(Transfer* transfer) const { storage->abandon(transfer); }
  };
  using TransferHandle = std::unique_ptr<Transfer, Abandon>;

  // A transfer has found the disk full, and its owner waits. While one lives the remover hurries.
  class SpaceWait : public boost::intrusive::list_base_hook<> {
   public:
    SpaceWait(TemporaryStorage& storage, Transfer& transfer, Parker& parker);
    ~SpaceWait();
    SpaceWait(const SpaceWait&) = delete;
    SpaceWait& operator=(const SpaceWait&) = delete;
    // none: all files that were retired before the first try failed were gone before this one.
    // awaited: some were not; the parker is woken when space has come back.
    // came: since this try began; another one is worth it.
    enum class Outlook : uint8_t { none, awaited, came };
    Outlook outlook();

   private:
    friend class TemporaryStorage;
    TemporaryStorage& storage_;
    Transfer& transfer_;
    Parker& parker_;
  };

  TemporaryStorage(FileSystem& files, std::string directory, size_t most_files);
  // Behind the last session: waits for what is under way, and removes what is left.
  ~TemporaryStorage() override;
  TemporaryStorage(const TemporaryStorage&) = delete;
  TemporaryStorage& operator=(const TemporaryStorage&) = delete;

  // Files of a process that is gone, before the first of ours. A failure is told in the log.
  void remove_stale();
  void start(unsigned threads);

  // Throws 53000 when there are too many.
  std::shared_ptr<OpenFile> take_place();
  // `parker` is woken at its end; null: it is done when this returns.
  void submit(Transfer& transfer, Parker* parker);
  // The same once more, behind a SpaceWait.
  void submit_again(Transfer& transfer, Parker* parker);
  bool is_done(const Transfer& transfer);
  TransferHandle make_transfer() { return {new Transfer, Abandon{this}}; }
  const std::string& directory() const { return directory_; }

 private:
  // First come, first served; needs no memory.
  class FileQueue {
   public:
    bool empty() const { return first_ == nullptr; }
    void push(std::unique_ptr<FileNode> node);
    std::unique_ptr<FileNode> pop();

   private:
    FileNode* first_ = nullptr;
    FileNode* last_ = nullptr;
  };

  void abandon(Transfer* transfer);
  void retire(std::unique_ptr<FileNode> node);
  void serve();
  void close_file(std::unique_lock<std::mutex>& lock);
  void run_transfer(std::unique_lock<std::mutex>& lock);
  void remove_files();
  void remove(const FileNode& node);
  void rest(std::chrono::nanoseconds wanted) override;
  void note_space();
  void transfer_now(Transfer& transfer);
  void write(Transfer& transfer);
  void read(Transfer& transfer);
  FileResult make_file(FileNode& node);

  FileSystem& files_;
  const std::string directory_;
  const size_t most_files_;

  std::mutex mutex_;  // guards what follows, but for the threads
  std::condition_variable arrived_;
  boost::intrusive::list<Transfer> waiting_;
  FileQueue to_close_;
  std::vector<std::thread> threads_;
  bool ends_ = false;
  size_t places_taken_ = 0;
  uint64_t files_named_ = 0;

  std::condition_variable closed_;
  std::condition_variable hurries_;
  FileQueue to_remove_;
  uint64_t retired_ = 0;  // files so far that were made
  uint64_t removed_ = 0;  // of these
  uint64_t pieces_ = 0;   // of space that came back, so far
  boost::intrusive::list<SpaceWait> space_waits_;
  bool remover_ends_ = false;
  std::thread remover_;
};

}  // namespace pgsilo
