// Reads the blocks of one segment, past the page cache (docs/recovery.md): the file is synced
// first, so that what the cache or the device's own cache hold is on disk before anybody acts on
// it, then read with direct I/O. Where the file system knows no direct I/O, it is read through the
// cache after the sync. Thread safety: none; one owner. Views are valid until the next call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/aligned_bytes.h"
#include "base/file.h"
#include "wal/layout/log_format.h"

namespace pgsilo {

class SegmentReader {
 public:
  SegmentReader(FileSystem& files, std::string path, uint64_t number, Uuid log);

  // Makes what was written to the file so far durable. For logs that may have been written to since
  // they were last synced.
  FileResult sync(uint64_t* file_bytes);
  // No block that begins at or behind `limit` will be asked for.
  FileResult open(uint64_t limit = UINT64_MAX);
  uint64_t bytes() const { return bytes_; }

  // The next undamaged block that begins in [from, to) at `from` or at a later multiple of the
  // block unit; none: there is none, or reading failed (result()).
  std::optional<BlockView> next(uint64_t from, uint64_t to);
  const FileResult& result() const { return result_; }
  // Whether the file begins as one does that was prepared and not written to: with zeros, or with a
  // whole block of its earlier use. False also if reading failed.
  bool begins_unused();
  // An undamaged block of another log is at the segment's start, where a block's header or zeros
  // always are: the file is in the wrong directory.
  bool met_foreign_block() const { return met_foreign_block_; }

 private:
  // The window covers [offset, offset + wanted) as far as the file goes, and is read ahead to the
  // limit.
  bool fill(uint64_t offset, size_t wanted);

  FileSystem& files_;
  const std::string path_;
  const uint64_t number_;
  const Uuid log_;
  std::unique_ptr<File> file_;
  uint64_t bytes_ = 0;
  uint64_t limit_ = 0;
  FileResult result_;
  bool met_foreign_block_ = false;
  AlignedBytes window_;
  uint64_t window_start_ = 0;
  size_t window_bytes_ = 0;
};

}  // namespace pgsilo
