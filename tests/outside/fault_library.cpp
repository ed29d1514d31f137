// Preloaded into a process, it watches the calls by which that touches the
// files below a directory (watched_files.h says how it is told which): it lets
// some go wrong as a schedule says that others write meanwhile, and keeps a
// journal from which one can make what a disk would hold if the power went at
// any moment (power_cut.cpp).
//
// Calls of the C library that make others inside of it (fopen() and its kin) do
// not come by here, nor do writes through memory or io_uring: who uses them
// cannot be judged, and the bed that starts the process refuses it
// (server_bed.py).
//
// Thread safety: any thread.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

#include "tests/outside/watched_calls.h"

namespace {

using outside::at_position;

unsigned mode_of(int flags, va_list* arguments) {
  return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(*arguments, unsigned) : 0;
}

}  // namespace

#define INTERPOSED extern "C" __attribute__((visibility("default")))

INTERPOSED int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  unsigned mode = mode_of(flags, &arguments);
  va_end(arguments);
  return outside::open_any(AT_FDCWD, path, flags, mode);
}
INTERPOSED int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  unsigned mode = mode_of(flags, &arguments);
  va_end(arguments);
  return outside::open_any(AT_FDCWD, path, flags, mode);
}
INTERPOSED int openat(int directory, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  unsigned mode = mode_of(flags, &arguments);
  va_end(arguments);
  return outside::open_any(directory, path, flags, mode);
}
INTERPOSED int openat64(int directory, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  unsigned mode = mode_of(flags, &arguments);
  va_end(arguments);
  return outside::open_any(directory, path, flags, mode);
}
INTERPOSED int creat(const char* path, mode_t mode) {
  return outside::open_any(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
INTERPOSED int creat64(const char* path, mode_t mode) { return creat(path, mode); }

INTERPOSED int close(int descriptor) { return outside::close_any(descriptor); }

INTERPOSED int dup(int from) noexcept { return outside::duplicate_any(from); }
INTERPOSED int dup3(int from, int to, int flags) noexcept {
  return outside::duplicate_any(from, to, flags);
}
INTERPOSED int dup2(int from, int to) noexcept {
  return from == to ? to : outside::duplicate_any(from, to, 0);
}

INTERPOSED ssize_t read(int descriptor, void* data, size_t bytes) {
  iovec part{.iov_base = data, .iov_len = bytes};
  return outside::read_any(descriptor, &part, 1, at_position);
}
INTERPOSED ssize_t pread(int descriptor, void* data, size_t bytes, off_t offset) {
  iovec part{.iov_base = data, .iov_len = bytes};
  return outside::read_any(descriptor, &part, 1, offset);
}
INTERPOSED ssize_t pread64(int descriptor, void* data, size_t bytes, off64_t offset) {
  return pread(descriptor, data, bytes, offset);
}
INTERPOSED ssize_t readv(int descriptor, const iovec* parts, int count) {
  return outside::read_any(descriptor, parts, count, at_position);
}
INTERPOSED ssize_t preadv(int descriptor, const iovec* parts, int count, off_t offset) {
  return outside::read_any(descriptor, parts, count, offset);
}
INTERPOSED ssize_t preadv64(int descriptor, const iovec* parts, int count, off64_t offset) {
  return outside::read_any(descriptor, parts, count, offset);
}

INTERPOSED ssize_t write(int descriptor, const void* data, size_t bytes) {
  iovec part{.iov_base = const_cast<void*>(data), .iov_len = bytes};
  return outside::write_any(descriptor, &part, 1, at_position);
}
INTERPOSED ssize_t pwrite(int descriptor, const void* data, size_t bytes, off_t offset) {
  iovec part{.iov_base = const_cast<void*>(data), .iov_len = bytes};
  return outside::write_any(descriptor, &part, 1, offset);
}
INTERPOSED ssize_t pwrite64(int descriptor, const void* data, size_t bytes, off64_t offset) {
  return pwrite(descriptor, data, bytes, offset);
}
INTERPOSED ssize_t writev(int descriptor, const iovec* parts, int count) {
  return outside::write_any(descriptor, parts, count, at_position);
}
INTERPOSED ssize_t pwritev(int descriptor, const iovec* parts, int count, off_t offset) {
  return outside::write_any(descriptor, parts, count, offset);
}
INTERPOSED ssize_t pwritev64(int descriptor, const iovec* parts, int count, off64_t offset) {
  return outside::write_any(descriptor, parts, count, offset);
}

INTERPOSED ssize_t preadv2(int descriptor, const iovec* parts, int count, off_t offset, int flags) {
  return outside::read_any(descriptor, parts, count, offset, flags);
}
INTERPOSED ssize_t preadv64v2(int descriptor, const iovec* parts, int count, off64_t offset,
                              int flags) {
  return outside::read_any(descriptor, parts, count, offset, flags);
}
INTERPOSED ssize_t pwritev2(int descriptor, const iovec* parts, int count, off_t offset,
                            int flags) {
  return outside::write_any(descriptor, parts, count, offset, flags);
}
INTERPOSED ssize_t pwritev64v2(int descriptor, const iovec* parts, int count, off64_t offset,
                               int flags) {
  return outside::write_any(descriptor, parts, count, offset, flags);
}

INTERPOSED int fsync(int descriptor) { return outside::sync_any(descriptor, SYS_fsync); }
INTERPOSED int fdatasync(int descriptor) { return outside::sync_any(descriptor, SYS_fdatasync); }
INTERPOSED int sync_file_range(int descriptor, off64_t offset, off64_t bytes, unsigned flags) {
  return outside::sync_range_any(descriptor, offset, bytes, flags);
}

INTERPOSED int fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
  return outside::allocate_any(descriptor, mode, offset, bytes);
}
INTERPOSED int fallocate64(int descriptor, int mode, off64_t offset, off64_t bytes) {
  return outside::allocate_any(descriptor, mode, offset, bytes);
}
INTERPOSED int posix_fallocate(int descriptor, off_t offset, off_t bytes) {
  int before = errno;
  int result = outside::allocate_any(descriptor, 0, offset, bytes) == 0 ? 0 : errno;
  errno = before;
  return result;
}
INTERPOSED int posix_fallocate64(int descriptor, off64_t offset, off64_t bytes) {
  return posix_fallocate(descriptor, offset, bytes);
}
INTERPOSED int ftruncate(int descriptor, off_t bytes) noexcept {
  return outside::truncate_any(descriptor, bytes);
}
INTERPOSED int ftruncate64(int descriptor, off64_t bytes) noexcept {
  return outside::truncate_any(descriptor, bytes);
}

INTERPOSED int rename(const char* from, const char* to) noexcept {
  return outside::rename_any(AT_FDCWD, from, AT_FDCWD, to, 0);
}
INTERPOSED int renameat(int from_directory, const char* from, int to_directory,
                        const char* to) noexcept {
  return outside::rename_any(from_directory, from, to_directory, to, 0);
}
INTERPOSED int renameat2(int from_directory, const char* from, int to_directory, const char* to,
                         unsigned flags) noexcept {
  return outside::rename_any(from_directory, from, to_directory, to, flags);
}
INTERPOSED int linkat(int from_directory, const char* from, int to_directory, const char* to,
                      int flags) noexcept {
  return outside::link_any(from_directory, from, to_directory, to, flags);
}
INTERPOSED int link(const char* from, const char* to) noexcept {
  return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}
INTERPOSED int unlink(const char* path) noexcept { return outside::unlink_any(AT_FDCWD, path, 0); }
INTERPOSED int unlinkat(int directory, const char* path, int flags) noexcept {
  return outside::unlink_any(directory, path, flags);
}
INTERPOSED int rmdir(const char* path) noexcept {
  return outside::unlink_any(AT_FDCWD, path, AT_REMOVEDIR);
}
INTERPOSED int remove(const char* path) noexcept {
  int result = unlink(path);
  return result != 0 && errno == EISDIR ? rmdir(path) : result;
}
INTERPOSED int mkdirat(int directory, const char* path, mode_t mode) noexcept {
  return outside::make_directory_any(directory, path, mode);
}
INTERPOSED int mkdir(const char* path, mode_t mode) noexcept {
  return mkdirat(AT_FDCWD, path, mode);
}

INTERPOSED int flock(int descriptor, int operation) noexcept {
  return outside::lock_any(descriptor, operation);
}

INTERPOSED DIR* opendir(const char* path) {
  if (outside::may_list(path) != 0) return nullptr;
  return reinterpret_cast<DIR* (*)(const char*)>(dlsym(RTLD_NEXT, "opendir"))(path);
}

INTERPOSED int fstatat(int directory, const char* path, struct stat* info, int flags) noexcept {
  return outside::stat_any(directory, path, info, flags);
}
INTERPOSED int fstatat64(int directory, const char* path, struct stat64* info, int flags) noexcept {
  return outside::stat_any(directory, path, reinterpret_cast<struct stat*>(info), flags);
}
INTERPOSED int stat(const char* path, struct stat* info) noexcept {
  return outside::stat_any(AT_FDCWD, path, info, 0);
}
INTERPOSED int stat64(const char* path, struct stat64* info) noexcept {
  return outside::stat_any(AT_FDCWD, path, reinterpret_cast<struct stat*>(info), 0);
}
INTERPOSED int lstat(const char* path, struct stat* info) noexcept {
  return outside::stat_any(AT_FDCWD, path, info, AT_SYMLINK_NOFOLLOW);
}
INTERPOSED int lstat64(const char* path, struct stat64* info) noexcept {
  return outside::stat_any(AT_FDCWD, path, reinterpret_cast<struct stat*>(info),
                           AT_SYMLINK_NOFOLLOW);
}
INTERPOSED int fstat(int descriptor, struct stat* info) noexcept {
  return outside::stat_any(descriptor, "", info, AT_EMPTY_PATH);
}
INTERPOSED int fstat64(int descriptor, struct stat64* info) noexcept {
  return outside::stat_any(descriptor, "", reinterpret_cast<struct stat*>(info), AT_EMPTY_PATH);
}
