// What the calls do that the fault library puts in place of the C library's
// (fault_library.cpp): the same as those where nothing is watched; else as the
// schedule says, with notes in the journal. They answer like system calls: -1,
// and errno.
//
// Thread safety: any thread. They call the system directly, never the functions
// that they replace.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <string>

namespace outside {

// In place of an offset: where the descriptor is.
inline constexpr off_t at_position = -1;

int open_any(int directory, const char* path, int flags, unsigned mode);
int close_any(int descriptor);
int duplicate_any(int from, int to, int flags);
int duplicate_any(int from);
ssize_t read_any(int descriptor, const iovec* parts, int count, off_t offset, int flags = 0);
ssize_t write_any(int descriptor, const iovec* parts, int count, off_t offset, int flags = 0);
// `number`: of fsync() or fdatasync().
int sync_any(int descriptor, long number);
int sync_range_any(int descriptor, off_t offset, off_t bytes, unsigned flags);
int allocate_any(int descriptor, int mode, off_t offset, off_t bytes);
int truncate_any(int descriptor, off_t bytes);
int rename_any(int from_directory, const char* from, int to_directory, const char* to,
               unsigned flags);
int link_any(int from_directory, const char* from, int to_directory, const char* to, int flags);
int unlink_any(int directory, const char* path, int flags);
int make_directory_any(int directory, const char* path, mode_t mode);
int lock_any(int descriptor, int operation);
// Whether a directory may be listed; -1 and errno if not.
int may_list(const char* path);
int stat_any(int directory, const char* path, struct stat* info, int flags);

}  // namespace outside
