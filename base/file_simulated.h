// A disk in memory that can lose power: the real log and recovery run on it in crash tests.
//
// Model. A file has what the page cache holds and what the disk holds; they differ in its dirty
// sectors (512 bytes) until a sync. A directory has its names and the names on disk; they differ by
// the operations since its last sync, in order. Every write, sync, allocation, creation, rename,
// removal and directory sync is a numbered step, from 1. At the step chosen by cut_power_at() the
// operation reaches the caches at most, then the power fails: each dirty sector is kept or lost by
// a coin of its own, a prefix of each directory's operations is kept, what a lost directory held is
// lost, and SimulatedPowerCut is thrown; so it is by every later operation until restart().
// kill_at() ends the process instead: caches survive, and the next power cut may still lose what
// nobody synced. A sync that fails leaves pages that look clean: buffered reads see them, the disk
// does not have them, later syncs skip them. Files opened `direct` read what the disk would return;
// files opened `synchronous` sync each write as part of its step.
//
// Thread safety: any thread; one lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/random.h"

namespace pgsilo {

struct SimulatedPowerCut {};

class SimulatedFileSystem final : public FileSystem {
 public:
  static constexpr size_t sector_bytes = 512;

  explicit SimulatedFileSystem(uint64_t seed) : random_(seed) {}

  // --- what shall happen --- (0: never)
  void cut_power_at(uint64_t step) { cut_at_ = step; }
  void kill_at(uint64_t step) { kill_at_ = step; }
  // That step fails with this result, whatever it is. A failing sync loses pages as described
  // above.
  void fail_at(uint64_t step, FileResult result) {
    fail_at_ = step;
    failure_ = result;
    fail_late_ = false;
  }
  // That step, a rename, is done and then fails.
  void fail_late_at(uint64_t step, FileResult result) {
    fail_at(step, result);
    fail_late_ = true;
  }
  // That step, if it is a write, transfers only a part and says so.
  void short_write_at(uint64_t step) { short_write_at_ = step; }
  // Allocations and growing writes beyond this many bytes of all files fail with no_space.
  void set_capacity(uint64_t bytes) { capacity_ = bytes; }
  // Syncs succeed and do nothing: a broken disk, or a build that forgets them.
  void set_syncs_lie(bool lie) { syncs_lie_ = lie; }
  // Direct I/O is refused, as on some file systems.
  void refuse_direct(bool refuse) { refuse_direct_ = refuse; }
  // Reads of the file fail with EIO.
  void fail_reads_of(const std::string& path) { unreadable_ = path; }
  // The n-th read from now on, of whichever file, fails with EIO. 0: none.
  void fail_read(uint64_t number) { reads_to_failure_ = number; }
  // Whether that read is still to come.
  bool read_failure_waits() const { return reads_to_failure_ != 0; }

  uint64_t steps() const { return step_; }
  uint64_t syncs() const { return syncs_; }
  uint64_t bytes_read() const { return bytes_read_; }
  // The process and its open files are gone, locks are free; nothing is cut, killed or failed any
  // more.
  void restart();
  // The power fails now, between two steps.
  void cut_power();

  // Direct access to what is on disk and in the cache, for tests that damage it.
  void corrupt(const std::string& path, uint64_t offset, const std::string& bytes);
  std::string content(const std::string& path);

  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override;
  FileResult rename(const std::string& from, const std::string& to) override;
  FileResult remove(const std::string& path) override;
  FileResult create_directory(const std::string& path) override;
  FileResult list(const std::string& directory, std::vector<std::string>* names) override;
  FileResult sync_directory(const std::string& directory) override;
  // One device, of the capacity.
  FileResult space(const std::string& directory, DeviceSpace* space) override;

 private:
  friend class SimulatedFile;
  struct Node {
    bool is_directory = false;
    std::string cache;
    std::string disk;
    std::set<uint64_t> dirty;  // sectors
    std::set<uint64_t> lost;   // the cache differs from the disk, but no sync will write it
    bool locked = false;
  };
  struct NameChange {
    std::string removed;  // a path, or empty
    std::string added;    // a path, or empty
    std::shared_ptr<Node> node;
  };
  using Names = std::map<std::string, std::shared_ptr<Node>>;

  // Counts a step and fails it if that was asked for. True in `*cut` if the power fails or the
  // process dies in it: the caller changes caches only and then calls die().
  FileResult begin_step(bool* cut);
  [[noreturn]] void die();
  void lose_power();
  void change_names(NameChange change);
  static void apply(Names& names, const NameChange& change);
  static void put_sector(Node& node, uint64_t sector);
  static void persist(Node& node);
  void lose_pages(Node& node);
  uint64_t used_bytes() const;
  Node* find(const std::string& path);

  std::mutex mutex_;
  Random random_;
  Names names_;
  Names disk_names_;
  std::map<std::string, std::vector<NameChange>> unsynced_names_;  // by directory
  uint64_t step_ = 0;
  uint64_t syncs_ = 0;
  uint64_t bytes_read_ = 0;
  uint64_t cut_at_ = 0;
  uint64_t kill_at_ = 0;
  uint64_t fail_at_ = 0;
  FileResult failure_;
  bool fail_late_ = false;  // done all the same, if it is a rename
  uint64_t short_write_at_ = 0;
  uint64_t capacity_ = UINT64_MAX;
  bool syncs_lie_ = false;
  bool refuse_direct_ = false;
  std::string unreadable_;
  uint64_t reads_to_failure_ = 0;
  bool dead_ = false;
  uint64_t generation_ = 0;
};

}  // namespace pgsilo
