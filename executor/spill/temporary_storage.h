// Temporary files of the whole server (docs/spilling.md): their directory, how many there may be,
// the threads that read and write them while fibers wait, and the one that removes them.
//
//   TemporaryStorage storage(files, directory, most_files);
//   storage.remove_stale();  storage.start(threads);       without threads whoever asks waits
//   std::shared_ptr<TemporaryStorage::OpenFile> file = storage.create();
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

class TemporaryStorage {
 public:
  struct FileNode {
    std::string path;
    std::unique_ptr<File> file;
    FileNode* next = nullptr;
  };
  // A file's removal is the remover's matter: whoever lets go of it last does not wait, nor needs
  // memory.
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
    TemporaryStorage& storage_;
    std::unique_ptr<FileNode> node_;
  };

  // A block on its way. The buffer is the transfer's own, so that it may be left alone.
  class Transfer : public boost::intrusive::list_base_hook<> {
   public:
    enum class Kind : uint8_t { read, write };
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
  };
  // Lets go of it at any moment, also within an exception: what waits in the queue leaves it, what
  // runs is freed by its thread; so no more are under way for nobody than there are threads.
  struct Abandon {
    TemporaryStorage* storage = nullptr;
    void operator()(Transfer* transfer) const { storage->abandon(transfer); }
  };
  using TransferHandle = std::unique_ptr<Transfer, Abandon>;

  TemporaryStorage(FileSystem& files, std::string directory, size_t most_files);
  // Behind the last session: waits for what is under way, and removes what is left.
  ~TemporaryStorage();
  TemporaryStorage(const TemporaryStorage&) = delete;
  TemporaryStorage& operator=(const TemporaryStorage&) = delete;

  // Files of a process that is gone, before the first of ours. A failure is told in the log.
  void remove_stale();
  void start(unsigned threads);

  // Throws 53000 when there are too many, 58030 and its kin.
  std::shared_ptr<OpenFile> create();
  // `parker` is woken at its end; null: it is done when this returns.
  void submit(Transfer& transfer, Parker* parker);
  bool is_done(const Transfer& transfer);
  TransferHandle make_transfer() { return {new Transfer, Abandon{this}}; }
  const std::string& directory() const { return directory_; }

 private:
  void abandon(Transfer* transfer);
  void retire(std::unique_ptr<FileNode> node);
  void serve();
  void remove_files();
  void remove(FileNode& node, bool gradually);
  void transfer_now(Transfer& transfer);
  void write(Transfer& transfer);
  void read(Transfer& transfer);
  bool wait_for_removals();
  FileResult open_file(const std::string& path, std::unique_ptr<File>* file);
  void give_back_place();

  FileSystem& files_;
  const std::string directory_;
  const size_t most_files_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable arrived_;
  boost::intrusive::list<Transfer> waiting_;
  std::vector<std::thread> threads_;
  bool ends_ = false;
  size_t open_files_ = 0;  // retired ones that are not closed yet included
  uint64_t files_made_ = 0;

  std::mutex removal_mutex_;  // guards what follows; never taken with mutex_ held
  std::condition_variable retired_;
  std::condition_variable removed_;
  FileNode* to_remove_ = nullptr;
  size_t removals_ = 0;    // to_remove_, and the one under way
  size_t in_a_hurry_ = 0;  // who waits for space
  bool remover_ends_ = false;
  std::thread remover_;
};

}  // namespace pgsilo
