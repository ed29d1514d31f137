// The seam through which every byte goes to disk and comes back: posix
// files in the server, a simulated disk in tests, the same code above both.
//
// Thread safety: FileSystem: any thread. File: reads from any thread; writes and syncs by one
// thread at a time, unless it is never synced (write_unsynced()). Ownership: a File may outlive
// nothing; its FileSystem outlives it. Durability: what a file holds is durable after sync_data()
// (or after the write, if opened synchronous); its name is durable after sync_directory() of its
// directory. A failed sync is final: the file must not be used again, for the kernel may have
// dropped the pages.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pgsilo {

// Offsets, lengths and addresses of direct I/O are multiples of this.
inline constexpr size_t file_block_bytes = 4096;

enum class FileStatus : uint8_t {
  ok,
  not_found,
  already_exists,
  no_space,     // ENOSPC, EDQUOT, EFBIG (RLIMIT_FSIZE)
  locked,       // somebody else holds the lock
  unsupported,  // the file system cannot do that (direct I/O)
  not_regular,  // a directory, a FIFO, a socket, a device
  failed,       // everything else: EIO, EACCES, ...
};

struct [[nodiscard]] FileResult {
  FileStatus status = FileStatus::ok;
  int error_number = 0;  // errno; 0 if unknown
  bool ok() const { return status == FileStatus::ok; }
  // "No space left on device"; for messages. words() needs no memory.
  const char* words() const;
  std::string text() const { return words(); }
};

class File {
 public:
  virtual ~File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Writes all of it or fails; short writes are continued.
  FileResult write_at(const void* data, size_t bytes, uint64_t offset);
  // The same by any thread at any time, of a file that is never synced.
  FileResult write_unsynced(const void* data, size_t bytes, uint64_t offset);
  // `*got` < bytes only at the end of the file.
  FileResult read_at(void* data, size_t bytes, uint64_t offset, size_t* got);
  // Makes what was written so far durable, and flushes the device's own cache.
  FileResult sync_data();
  virtual FileResult size(uint64_t* bytes) = 0;
  // Reserves disk space for [0, bytes), which reads as zeros where nothing was written; extends the
  // file.
  virtual FileResult allocate(uint64_t bytes) = 0;
  // An exclusive lock that dies with the process or this object; `locked` if another process or
  // object has it.
  virtual FileResult try_lock() = 0;
  // Whether the path names this very file, and not another one that was put there. not_found: none.
  virtual FileResult is_at(const std::string& path, bool* is) const = 0;

  // Every byte that was written through this object below this offset is durable: what may be
  // acknowledged (item 13).
  uint64_t synced_end() const { return synced_end_; }

 protected:
  explicit File(bool synchronous) : synchronous_(synchronous) {}
  // One system call each; `*done` bytes were transferred.
  virtual FileResult do_write(const void* data, size_t bytes, uint64_t offset, size_t* done) = 0;
  virtual FileResult do_read(void* data, size_t bytes, uint64_t offset, size_t* done) = 0;
  virtual FileResult do_sync() = 0;

 private:
  const bool synchronous_;
  uint64_t written_end_ = 0;
  uint64_t synced_end_ = 0;
};

struct OpenFlags {
  bool write = false;
  bool create = false;     // if missing
  bool exclusive = false;  // already_exists if there; with create
  bool direct =
      false;  // past the page cache: file_block_bytes alignment; unsupported where it cannot be
  bool synchronous = false;  // each write is durable when it returns
};

struct DeviceSpace {
  uint64_t device = 0;  // which it is
  uint64_t total_bytes = 0;
  uint64_t free_bytes = 0;  // for us
};

// How a gradual removal goes on. Thread safety: called by the thread that removes.
class RemovalPace {
 public:
  virtual ~RemovalPace() = default;
  // A piece is free. Whoever removes calls this for the rest behind it, of so long.
  virtual void rest(std::chrono::nanoseconds wanted) = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Waits for nobody. What is no regular file is refused: a FIFO waits for whoever opens its other
  // end, a device may have no end.
  virtual FileResult open(const std::string& path, OpenFlags flags,
                          std::unique_ptr<File>* file) = 0;
  // Replaces `to` atomically. Both in one directory.
  virtual FileResult rename(const std::string& from, const std::string& to) = 0;
  virtual FileResult remove(const std::string& path) = 0;
  // The same, for a large file beside others' writes: the space is given back in pieces, with rests
  // between. A file system that discards what becomes free keeps the device busy with all of it at
  // once otherwise, and who writes meanwhile waits (docs/decisions/gradual-removal.md).
  virtual FileResult remove_gradually(const std::string& path) { return remove(path); }
  // The same at another's pace.
  virtual FileResult remove_in_pieces(const std::string& path, RemovalPace&) {
    return remove(path);
  }
  // One level; already_exists if there.
  virtual FileResult create_directory(const std::string& path) = 0;
  // Names without "." and "..", in no order.
  virtual FileResult list(const std::string& directory, std::vector<std::string>* names) = 0;
  // Makes creations, renames and removals in the directory durable.
  virtual FileResult sync_directory(const std::string& directory) = 0;
  // From now on that needs no descriptor, of which there may be none by then.
  virtual FileResult hold_directory(const std::string&) { return {}; }
  // Where an existing directory really is, from the root, links followed. A file system without
  // links: as its path says.
  virtual FileResult real_path(const std::string& directory, std::string* real) {
    *real = directory;
    return {};
  }
  // Of the device that the directory lies on. Where it cannot be told: unsupported.
  virtual FileResult space(const std::string&, DeviceSpace*) {
    return {FileStatus::unsupported, 0};
  }
};

// The process's own file system.
std::unique_ptr<FileSystem> posix_file_system();

// "a/b": `name` inside `directory`, or `name` itself if it is absolute.
std::string join_path(const std::string& directory, const std::string& name);
// From the root, wherever the process is, without "." and slashes at the end; links are not
// followed, so that ".." stays: behind a link it leads elsewhere than its text says. As it is if
// nobody can tell where the process is.
std::string absolute_path(const std::string& path);
// The directory part of a path, slashes at its end apart; "." if there is none.
std::string parent_path(const std::string& path);
// Whether the directory really lies in the other one, or is it: not where a link leads elsewhere,
// nor where nobody can tell.
bool lies_inside(FileSystem& files, const std::string& directory, const std::string& outer);

// Makes the directory, whose parent is there. Also if it is there already, its name is durable
// afterwards: whoever made it may not have come to the sync.
FileResult make_directory(FileSystem& files, const std::string& path);
// The same with all of its parents. A failure: at `*part` of the path.
FileResult make_directories(FileSystem& files, const std::string& path, std::string* part);
// Writes a small file so that after a crash it has the old content or the new, never a mixture:
// temporary file, sync, rename, sync of the directory. `*replaced`, if not null: whether the rename
// was done, or may have been; if so and the result is a failure, either may be found after a crash.
FileResult replace_file(FileSystem& files, const std::string& path, const std::string& content,
                        bool* replaced = nullptr);
// The whole content of a small file.
FileResult read_whole_file(FileSystem& files, const std::string& path, std::string* content);

}  // namespace pgsilo
