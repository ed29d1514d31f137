#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "base/file.h"

namespace pgsilo {
namespace {

// A few milliseconds of a device that discards.
constexpr off_t piece_given_back = off_t{8} << 20;

// For a regular file they mean nothing.
constexpr int not_waiting = O_NONBLOCK | O_NOCTTY;

constexpr FileResult not_regular{FileStatus::not_regular, 0};

FileResult failure(int error) {
  switch (error) {
    case ENOENT:
      return {FileStatus::not_found, error};
    case EEXIST:
      return {FileStatus::already_exists, error};
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return {FileStatus::no_space, error};
    case EWOULDBLOCK:
      return {FileStatus::locked, error};
    case EINVAL:
    case EOPNOTSUPP:
      return {FileStatus::unsupported, error};
    default:
      return {FileStatus::failed, error};
  }
}

template <typename Call>
auto retry_interrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

FileResult checked(int result) { return result == 0 ? FileResult{} : failure(errno); }

class PosixFile final : public File {
 public:
  explicit PosixFile(bool synchronous) : File(synchronous) {}
  ~PosixFile() override {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  FileResult open(const std::string& path, int mode) {
    descriptor_ = retry_interrupted([&] { return ::open(path.c_str(), mode | not_waiting, 0600); });
    struct stat info;
    if (descriptor_ < 0 || ::fstat(descriptor_, &info) != 0) return opening_failure(errno);
    return S_ISREG(info.st_mode) ? FileResult{} : not_regular;
  }

  FileResult size(uint64_t* bytes) override {
    struct stat info;
    if (::fstat(descriptor_, &info) != 0) return failure(errno);
    *bytes = static_cast<uint64_t>(info.st_size);
    return {};
  }

  FileResult allocate(uint64_t bytes) override {
    int error;
    do {
      error = ::posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes));
    } while (error == EINTR);
    return error == 0 ? FileResult{} : failure(error);
  }

  FileResult try_lock() override {
    return checked(retry_interrupted([&] { return ::flock(descriptor_, LOCK_EX | LOCK_NB); }));
  }

  FileResult is_at(const std::string& path, bool* is) const override {
    struct stat own;
    struct stat named;
    *is = false;
    if (::fstat(descriptor_, &own) != 0 || ::stat(path.c_str(), &named) != 0) return failure(errno);
    *is = own.st_dev == named.st_dev && own.st_ino == named.st_ino;
    return {};
  }

 private:
  // A socket or a device without a driver, or a directory that is to be written.
  static FileResult opening_failure(int error) {
    return error == ENXIO || error == EISDIR ? not_regular : failure(error);
  }

  FileResult do_write(const void* data, size_t bytes, uint64_t offset, size_t* done) override {
    ssize_t count = retry_interrupted(
        [&] { return ::pwrite(descriptor_, data, bytes, static_cast<off_t>(offset)); });
    if (count < 0) return failure(errno);
    *done = static_cast<size_t>(count);
    return {};
  }

  FileResult do_read(void* data, size_t bytes, uint64_t offset, size_t* done) override {
    ssize_t count = retry_interrupted(
        [&] { return ::pread(descriptor_, data, bytes, static_cast<off_t>(offset)); });
    if (count < 0) return failure(errno);
    *done = static_cast<size_t>(count);
    return {};
  }

  // Not repeated, not even after EINTR: a sync that failed once has failed
  // (docs/faults_survived.md).
  FileResult do_sync() override { return checked(::fdatasync(descriptor_)); }

  int descriptor_ = -1;
};

// Leaves the device to others for most of the time.
class GentlePace final : public RemovalPace {
 public:
  void rest(std::chrono::nanoseconds wanted) override { std::this_thread::sleep_for(wanted); }
};

// A file without a name. Failures do not matter: what is left goes when the descriptor is closed.
void give_back_in_pieces(int descriptor, RemovalPace& pace) {
  // A file of more names, a hard link of a backup's, keeps its content.
  struct stat status;
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 0) return;
  for (off_t end = status.st_size; end > 0;) {
    end = std::max<off_t>(0, end - piece_given_back);
    auto began = std::chrono::steady_clock::now();
    if (retry_interrupted([&] { return ::ftruncate(descriptor, end); }) != 0) return;
    pace.rest(2 * (std::chrono::steady_clock::now() - began));
  }
}

// A directory's descriptor.
class OpenDirectory {
 public:
  explicit OpenDirectory(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}
  ~OpenDirectory() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenDirectory(const OpenDirectory&) = delete;
  OpenDirectory& operator=(const OpenDirectory&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  FileResult sync() const { return checked(::fsync(descriptor_)); }
  // Not if somebody has put another one in its place since.
  bool is_at(const std::string& path) const {
    struct stat own, named;
    return ::fstat(descriptor_, &own) == 0 && ::stat(path.c_str(), &named) == 0 &&
           own.st_dev == named.st_dev && own.st_ino == named.st_ino;
  }

 private:
  int descriptor_;
};

class PosixFileSystem final : public FileSystem {
 public:
  FileResult open(const std::string& path, OpenFlags flags, std::unique_ptr<File>* file) override {
    int mode = flags.write ? O_RDWR : O_RDONLY;
    if (flags.create) mode |= O_CREAT;
    if (flags.exclusive) mode |= O_EXCL;
    if (flags.direct) mode |= O_DIRECT;
    if (flags.synchronous) mode |= O_DSYNC;
    // First: nobody would close the descriptor if there were no memory for it.
    auto opened = std::make_unique<PosixFile>(flags.synchronous);
    FileResult result = opened->open(path, mode | O_CLOEXEC);
    if (result.ok()) *file = std::move(opened);
    return result;
  }

  FileResult rename(const std::string& from, const std::string& to) override {
    return checked(::rename(from.c_str(), to.c_str()));
  }
  FileResult remove(const std::string& path) override { return checked(::unlink(path.c_str())); }
  FileResult remove_gradually(const std::string& path) override {
    GentlePace pace;
    return remove_in_pieces(path, pace);
  }
  FileResult remove_in_pieces(const std::string& path, RemovalPace& pace) override {
    // Held open: the name goes at once, the space as this says.
    int descriptor = ::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC | not_waiting);
    FileResult result = remove(path);
    if (descriptor < 0) return result;
    if (result.ok()) give_back_in_pieces(descriptor, pace);
    ::close(descriptor);
    return result;
  }
  FileResult create_directory(const std::string& path) override {
    return checked(::mkdir(path.c_str(), 0700));
  }

  FileResult list(const std::string& directory, std::vector<std::string>* names) override {
    names->clear();
    auto close = [](DIR* handle) { ::closedir(handle); };
    std::unique_ptr<DIR, decltype(close)> handle(::opendir(directory.c_str()), close);
    if (handle == nullptr) return failure(errno);
    errno = 0;
    while (const dirent* entry = ::readdir(handle.get())) {
      std::string name = entry->d_name;
      if (name != "." && name != "..") names->push_back(std::move(name));
      errno = 0;
    }
    return errno == 0 ? FileResult{} : failure(errno);
  }

  FileResult sync_directory(const std::string& directory) override {
    if (std::shared_ptr<OpenDirectory> held = find_held(directory)) return held->sync();
    OpenDirectory opened(directory);
    return opened.is_open() ? opened.sync() : failure(errno);
  }

  FileResult hold_directory(const std::string& directory) override {
    auto opened = std::make_shared<OpenDirectory>(directory);
    if (!opened->is_open()) return failure(errno);
    std::lock_guard lock(mutex_);
    held_[without_slashes(directory)] = std::move(opened);
    return {};
  }

  FileResult real_path(const std::string& directory, std::string* real) override {
    std::unique_ptr<char, decltype(&std::free)> found(::realpath(directory.c_str(), nullptr),
                                                      &std::free);
    if (found == nullptr) return failure(errno);
    *real = found.get();
    return {};
  }

  FileResult space(const std::string& directory, DeviceSpace* space) override {
    struct statvfs status;
    if (retry_interrupted([&] { return ::statvfs(directory.c_str(), &status); }) != 0)
      return failure(errno);
    *space = {.device = status.f_fsid,
              .total_bytes = uint64_t{status.f_blocks} * status.f_frsize,
              .free_bytes = uint64_t{status.f_bavail} * status.f_frsize};
    return {};
  }

 private:
  static std::string without_slashes(const std::string& path) {
    return path.substr(0, path.find_last_not_of('/') + 1);
  }

  std::shared_ptr<OpenDirectory> find_held(const std::string& directory) {
    std::lock_guard lock(mutex_);
    auto held = held_.find(without_slashes(directory));
    if (held == held_.end() || !held->second->is_at(directory)) return nullptr;
    return held->second;
  }

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<OpenDirectory>> held_;
};

}  // namespace

std::unique_ptr<FileSystem> posix_file_system() { return std::make_unique<PosixFileSystem>(); }

}  // namespace pgsilo
