// One file of a checkpoint being written: blocks one after the other, then the footer; past the
// page cache, so that it is not filled with what nobody reads, and synced as it grows, so that a
// log's sync never waits behind much of it. Thread safety: none; one owner. Failures: a file that
// reported one is of no use any more; nothing rests on it before the manifest names it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/aligned_bytes.h"
#include "base/file.h"
#include "wal/layout/checkpoint_format.h"
#include "wal/layout/checkpoint_manifest.h"

namespace pgsilo {

class CheckpointFileWriter {
 public:
  // Bytes written between two syncs, at most (SiloR section 3.3).
  static constexpr uint64_t sync_bytes = uint64_t{32} << 20;

  // `directory` as it is to be named in the manifest: a relative one lies in `base`.
  CheckpointFileWriter(FileSystem& files, const std::string& base, std::string directory,
                       CheckpointFileIdentity identity, bool compress);

  FileResult create();
  FileResult append(const CheckpointBlockBuilder& block);
  // Writes the footer and syncs; the file is whole then. `row_ids` go into the footer.
  FileResult finish(std::vector<RowIdFloor> row_ids);

  const std::string& path() const { return path_; }
  // Whether create() has made the file: it was not there before.
  bool created() const { return created_; }
  // After finish(); all of its blocks count.
  CheckpointFile description() const { return description_; }
  uint64_t bytes() const { return written_ + buffered_; }

 private:
  // One write.
  static constexpr size_t write_bytes = size_t{1} << 20;

  FileResult flush();
  void describe(std::string_view footer);
  void make_room(size_t bytes);

  FileSystem& files_;
  const std::string directory_;
  const std::string path_;
  const CheckpointFileIdentity identity_;
  std::unique_ptr<File> file_;
  bool created_ = false;
  std::optional<Compressor> compressor_;
  AlignedBytes buffer_;
  size_t capacity_ = 0;
  size_t buffered_ = 0;
  uint64_t written_ = 0;
  uint64_t synced_ = 0;
  CheckpointFooter footer_;
  CheckpointFile description_;
};

}  // namespace pgsilo
