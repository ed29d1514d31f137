#include "tests/outside/watched_calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/outside/watched_files.h"

namespace outside {
namespace {

struct Call {
  CallKind kind;
  std::string path;
};

int failed(int error) {
  errno = error;
  return -1;
}

// Runs the call as its verdict says: `begin` makes the note, or null, `work`
// calls the system.
template <typename Begin, typename Work>
int scheduled(WatchedFiles& files, const Call& call, Begin begin, Work work) {
  Verdict verdict = files.judge(call.kind, call.path);
  Note* note = begin();
  if (verdict.action == Action::fail) {
    files.end(note, false);
    return failed(verdict.error);
  }
  int result = work();
  int error = errno;
  files.end(note, result >= 0);
  if (verdict.action == Action::die_after) die_now();
  errno = error;
  return result;
}

template <typename Work>
int scheduled(WatchedFiles& files, const Call& call, Work work) {
  return scheduled(files, call, [] { return nullptr; }, work);
}

int open_watched(WatchedFiles& files, const std::string& path, int flags, unsigned mode) {
  std::unique_lock<std::recursive_mutex> order;
  bool creates = false;
  int descriptor = scheduled(
      files, {CallKind::open, path},
      [&]() -> Note* {
        if ((flags & O_CREAT) == 0) return nullptr;
        order = files.name_order();
        creates = facts_of(path.c_str()).file == 0;
        return creates ? files.name(Change::create, path) : nullptr;
      },
      [&] { return plain_open(path.c_str(), flags & ~O_TRUNC, mode); });
  if (descriptor < 0) return descriptor;
  files.opened(descriptor, flags, path);
  if ((flags & O_TRUNC) != 0 && !creates && truncate_any(descriptor, 0) != 0) {
    int error = errno;
    close_any(descriptor);
    return failed(error);
  }
  return descriptor;
}

std::shared_ptr<const OpenFile> watched_file(int descriptor) {
  WatchedFiles* files = WatchedFiles::instance();
  return files == nullptr ? nullptr : files->find(descriptor);
}

// The first `bytes` of what the vector names.
std::vector<iovec> first_part(const iovec* parts, int count, size_t bytes) {
  std::vector<iovec> part;
  for (int i = 0; i < count && bytes > 0; ++i) {
    part.push_back({.iov_base = parts[i].iov_base, .iov_len = std::min(parts[i].iov_len, bytes)});
    bytes -= part.back().iov_len;
  }
  return part;
}

size_t bytes_of(const iovec* parts, int count) {
  size_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += parts[i].iov_len;
  return bytes;
}

ssize_t plain_transfer(bool write, int descriptor, const iovec* parts, int count, off_t offset,
                       int flags) {
  if (flags != 0) {
    return syscall(write ? SYS_pwritev2 : SYS_preadv2, descriptor, parts, count, offset, 0, flags);
  }
  if (offset == at_position) {
    return syscall(write ? SYS_writev : SYS_readv, descriptor, parts, count);
  }
  // One part: by the plain call, for O_DIRECT asks more of vectors.
  if (count == 1) {
    return syscall(write ? SYS_pwrite64 : SYS_pread64, descriptor, parts->iov_base, parts->iov_len,
                   offset);
  }
  return syscall(write ? SYS_pwritev : SYS_preadv, descriptor, parts, count, offset, 0);
}

// How many bytes of the write are done. Past the page cache only whole units can be.
size_t bytes_granted(const Verdict& verdict, size_t bytes, bool direct) {
  constexpr size_t direct_unit = 4096;
  size_t granted = bytes;
  if (verdict.action == Action::fail || verdict.action == Action::shorten) {
    granted = std::min<size_t>(bytes, verdict.amount);
  } else if (verdict.action == Action::die_during) {
    granted = bytes * verdict.amount / 1000;
  }
  return direct ? granted / direct_unit * direct_unit : granted;
}

uint64_t write_offset(int descriptor, const OpenFile& file, off_t offset) {
  if (offset != at_position) return static_cast<uint64_t>(offset);
  if ((file.flags & O_APPEND) != 0) return facts_of(descriptor).bytes;
  return static_cast<uint64_t>(syscall(SYS_lseek, descriptor, 0, SEEK_CUR));
}

// A call that makes or takes away one name.
template <typename Work>
int change_name(int directory, const char* path, CallKind kind, Change change, Work work) {
  WatchedFiles* files = WatchedFiles::instance();
  std::string whole = files == nullptr ? "" : files->watched(directory, path);
  if (whole.empty()) return work();
  std::unique_lock<std::recursive_mutex> order;
  return scheduled(
      *files, {kind, whole},
      [&] {
        order = files->name_order();
        return files->name(change, whole);
      },
      work);
}

}  // namespace

int open_any(int directory, const char* path, int flags, unsigned mode) {
  WatchedFiles* files = WatchedFiles::instance();
  if (files != nullptr) {
    std::string whole = files->watched(directory, path);
    if (!whole.empty()) return open_watched(*files, whole, flags, mode);
  }
  return static_cast<int>(syscall(SYS_openat, directory, path, flags, mode));
}

int close_any(int descriptor) {
  auto work = [&] { return static_cast<int>(syscall(SYS_close, descriptor)); };
  auto file = watched_file(descriptor);
  if (file == nullptr) return work();
  WatchedFiles& files = *WatchedFiles::instance();
  // Before: the number may be somebody else's right behind the call.
  files.closed(descriptor);
  Verdict verdict = files.judge(CallKind::close, file->path);
  int result = work();
  return verdict.action == Action::fail ? failed(verdict.error) : result;
}

int duplicate_any(int from) {
  auto to = static_cast<int>(syscall(SYS_dup, from));
  if (to >= 0 && watched_file(from) != nullptr) WatchedFiles::instance()->duplicated(from, to);
  return to;
}

int duplicate_any(int from, int to, int flags) {
  auto result = static_cast<int>(syscall(SYS_dup3, from, to, flags));
  WatchedFiles* files = WatchedFiles::instance();
  if (result >= 0 && files != nullptr) files->duplicated(from, to);
  return result;
}

ssize_t read_any(int descriptor, const iovec* parts, int count, off_t offset, int flags) {
  auto file = watched_file(descriptor);
  if (file == nullptr) return plain_transfer(false, descriptor, parts, count, offset, flags);
  Verdict verdict = WatchedFiles::instance()->judge(CallKind::read, file->path);
  if (verdict.action == Action::fail) return failed(verdict.error);
  size_t bytes = bytes_of(parts, count);
  if (verdict.action == Action::shorten) bytes = std::min<size_t>(bytes, verdict.amount);
  std::vector<iovec> part = first_part(parts, count, bytes);
  return plain_transfer(false, descriptor, part.data(), static_cast<int>(part.size()), offset,
                        flags);
}

ssize_t write_any(int descriptor, const iovec* parts, int count, off_t offset, int flags) {
  auto file = watched_file(descriptor);
  if (file == nullptr) return plain_transfer(true, descriptor, parts, count, offset, flags);
  WatchedFiles& files = *WatchedFiles::instance();
  Verdict verdict = files.judge(CallKind::write, file->path);
  size_t bytes = bytes_granted(verdict, bytes_of(parts, count), (file->flags & O_DIRECT) != 0);
  bool synchronous = ((file->flags & O_DSYNC) != 0 || (flags & (RWF_DSYNC | RWF_SYNC)) != 0) &&
                     verdict.action != Action::lie;
  std::vector<iovec> part = first_part(parts, count, bytes);
  Note* note =
      files.write(descriptor, *file, write_offset(descriptor, *file, offset), bytes, synchronous);
  ssize_t result = 0;
  if (bytes > 0) {
    result =
        plain_transfer(true, descriptor, part.data(), static_cast<int>(part.size()), offset, flags);
  }
  int error = errno;
  if (verdict.action == Action::die_during) die_now();
  bool fails = verdict.action == Action::fail;
  if (note != nullptr && result >= 0) note->length = static_cast<uint64_t>(result);
  files.end(note, result >= 0 && !fails);
  if (verdict.action == Action::die_after) die_now();
  errno = fails ? verdict.error : error;
  return fails ? -1 : result;
}

int sync_any(int descriptor, long number) {
  auto file = watched_file(descriptor);
  if (file == nullptr) return static_cast<int>(syscall(number, descriptor));
  WatchedFiles& files = *WatchedFiles::instance();
  CallKind kind = file->directory ? CallKind::sync_directory : CallKind::sync;
  Verdict verdict = files.judge(kind, file->path);
  if (verdict.action == Action::lie) return 0;
  Note* note = files.sync(*file);
  bool fails = verdict.action == Action::fail;
  int result = fails ? -1 : static_cast<int>(syscall(number, descriptor));
  int error = fails ? verdict.error : errno;
  files.end(note, result == 0);
  if (verdict.action == Action::die_after) die_now();
  errno = error;
  return result;
}

// Promises nothing about the device's cache: nothing is durable by it.
int sync_range_any(int descriptor, off_t offset, off_t bytes, unsigned flags) {
  auto work = [&] {
    return static_cast<int>(syscall(SYS_sync_file_range, descriptor, offset, bytes, flags));
  };
  auto file = watched_file(descriptor);
  if (file == nullptr) return work();
  return scheduled(*WatchedFiles::instance(), {CallKind::sync, file->path}, work);
}

int allocate_any(int descriptor, int mode, off_t offset, off_t bytes) {
  auto work = [&] {
    return static_cast<int>(syscall(SYS_fallocate, descriptor, mode, offset, bytes));
  };
  auto file = watched_file(descriptor);
  if (file == nullptr) return work();
  // The other modes change content in ways that are not noted.
  if ((mode & ~FALLOC_FL_KEEP_SIZE) != 0) return failed(EOPNOTSUPP);
  WatchedFiles& files = *WatchedFiles::instance();
  auto end = static_cast<uint64_t>(offset + bytes);
  bool grows = mode == 0 && end > facts_of(descriptor).bytes;
  return scheduled(
      files, {CallKind::allocate, file->path},
      [&] { return grows ? files.resize(descriptor, *file, end) : nullptr; }, work);
}

int truncate_any(int descriptor, off_t bytes) {
  auto work = [&] { return static_cast<int>(syscall(SYS_ftruncate, descriptor, bytes)); };
  auto file = watched_file(descriptor);
  if (file == nullptr) return work();
  WatchedFiles& files = *WatchedFiles::instance();
  return scheduled(
      files, {CallKind::truncate, file->path},
      [&] { return files.resize(descriptor, *file, static_cast<uint64_t>(bytes)); }, work);
}

int rename_any(int from_directory, const char* from, int to_directory, const char* to,
               unsigned flags) {
  auto work = [&] {
    return static_cast<int>(syscall(SYS_renameat2, from_directory, from, to_directory, to, flags));
  };
  WatchedFiles* files = WatchedFiles::instance();
  std::string whole_from = files == nullptr ? "" : files->watched(from_directory, from);
  std::string whole_to = files == nullptr ? "" : files->watched(to_directory, to);
  if (whole_from.empty() && whole_to.empty()) return work();
  if ((flags & ~unsigned{RENAME_NOREPLACE}) != 0 || whole_from.empty() || whole_to.empty()) {
    return failed(EINVAL);
  }
  std::unique_lock<std::recursive_mutex> order;
  int result = scheduled(
      *files, {CallKind::rename, whole_to},
      [&] {
        order = files->name_order();
        return files->rename(whole_from, whole_to);
      },
      work);
  int error = errno;
  if (result == 0) files->renamed(whole_from, whole_to);
  errno = error;
  return result;
}

int unlink_any(int directory, const char* path, int flags) {
  bool of_directory = (flags & AT_REMOVEDIR) != 0;
  return change_name(directory, path, of_directory ? CallKind::remove_directory : CallKind::unlink,
                     of_directory ? Change::remove_directory : Change::unlink, [&] {
                       return static_cast<int>(syscall(SYS_unlinkat, directory, path, flags));
                     });
}

int link_any(int from_directory, const char* from, int to_directory, const char* to, int flags) {
  return change_name(to_directory, to, CallKind::link, Change::link, [&] {
    return static_cast<int>(syscall(SYS_linkat, from_directory, from, to_directory, to, flags));
  });
}

int make_directory_any(int directory, const char* path, mode_t mode) {
  return change_name(directory, path, CallKind::make_directory, Change::make_directory,
                     [&] { return static_cast<int>(syscall(SYS_mkdirat, directory, path, mode)); });
}

int lock_any(int descriptor, int operation) {
  auto work = [&] { return static_cast<int>(syscall(SYS_flock, descriptor, operation)); };
  auto file = watched_file(descriptor);
  if (file == nullptr) return work();
  return scheduled(*WatchedFiles::instance(), {CallKind::lock, file->path}, work);
}

int may_list(const char* path) {
  WatchedFiles* files = WatchedFiles::instance();
  std::string whole = files == nullptr ? "" : files->watched(AT_FDCWD, path);
  if (whole.empty()) return 0;
  return scheduled(*files, {CallKind::list, whole}, [] { return 0; });
}

int stat_any(int directory, const char* path, struct stat* info, int flags) {
  auto result = static_cast<int>(syscall(SYS_newfstatat, directory, path, info, flags));
  WatchedFiles* files = WatchedFiles::instance();
  if (result == 0 && files != nullptr && S_ISREG(info->st_mode) && info->st_nlink > 0) {
    int error = errno;
    info->st_nlink = files->visible_links(info->st_ino, info->st_nlink);
    errno = error;
  }
  return result;
}

}  // namespace outside
