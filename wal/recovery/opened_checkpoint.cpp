#include "wal/recovery/opened_checkpoint.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/aligned_bytes.h"
#include "base/file.h"
#include "wal/recovery/block_search.h"
#include "wal/recovery/checkpoint_blocks.h"

namespace pgsilo {
namespace {

bool is_there(FileSystem& files, const std::string& path) {
  std::unique_ptr<File> file;
  return files.open(path, {}, &file).ok();
}

// Opens one file and reads its footer.
class FileOpener {
 public:
  FileOpener(FileSystem& files, const CheckpointFile& file, OpenedCheckpointFile& opened)
      : files_(files), file_(file), opened_(opened) {}

  CheckpointFault run() {
    CheckpointFault fault = open();
    if (!fault) fault = read_footer();
    if (!fault) fault = keep_what_counts();
    if (!fault) fault = look_at_encodings();
    return fault;
  }

 private:
  CheckpointFault open() {
    FileResult result = open_past_cache(files_, opened_.path, &handle_);
    uint64_t bytes = 0;
    if (result.ok()) result = handle_->size(&bytes);
    if (!result.ok()) return unreadable(result);
    bool whole = bytes >= file_.bytes && file_.footer_offset + padded() <= bytes;
    if (whole) return {};
    return is_of_a_copy() ? of_a_copy() : CheckpointFault::damaged(named() + " is too short");
  }

  CheckpointFault read_footer() {
    AlignedBytes footer = allocate_aligned(padded());
    FileResult result = read_exactly(*handle_, footer.get(), padded(), file_.footer_offset);
    if (!result.ok()) return unreadable(result);
    std::string_view bytes(footer.get(), file_.footer_bytes);
    bool known = file_.footer_checksum == 0 || checksum_of_footer(bytes) == file_.footer_checksum;
    std::optional<CheckpointFooter> decoded;
    if (known) decoded = decode_footer(bytes, opened_.identity);
    if (!decoded)
      return is_of_a_copy() ? of_a_copy() : damaged_checkpoint(opened_.path, file_.footer_offset);
    opened_.footer = std::move(*decoded);
    return {};
  }

  CheckpointFault keep_what_counts() {
    if (opened_.identity.incarnation == Uuid{}) return {};
    std::vector<CheckpointBlock>& blocks = opened_.footer.blocks;
    std::vector<CheckpointBlock> taken;
    uint64_t from = 0;
    for (const BlockRange& range : file_.taken) {
      if (range.first < from || range.first > blocks.size() ||
          range.count > blocks.size() - range.first) {
        return CheckpointFault::damaged(named() +
                                        " has not the blocks that the control file names");
      }
      from = range.first + range.count;
      auto first = blocks.begin() + static_cast<ptrdiff_t>(range.first);
      std::move(first, first + static_cast<ptrdiff_t>(range.count), std::back_inserter(taken));
    }
    blocks = std::move(taken);
    return {};
  }

  CheckpointFault look_at_encodings() const {
    auto text = [](const RelationEncoding& encoding) {
      return std::to_string(encoding.keys) + " of keys and " + std::to_string(encoding.rows) +
             " of rows";
    };
    for (const CheckpointBlock& block : opened_.footer.blocks) {
      if (is_known(block.encoding)) continue;
      return {CheckpointFault::Kind::unknown,
              named() + " holds relation " + std::to_string(block.relation.value()) +
                  " in encoding " + text(block.encoding) + ", this program knows those up to " +
                  text(newest_encoding),
              {}};
    }
    return {};
  }

  // Its first block tells who wrote the file, wherever that one's footer is.
  bool is_of_a_copy() {
    uint64_t bytes = 0;
    if (!handle_->size(&bytes).ok()) return false;
    uint64_t wanted = std::min<uint64_t>(bytes, longest_looked_at);
    AlignedBytes start = allocate_aligned(checkpoint_format::round_up(wanted));
    size_t got = 0;
    return handle_->read_at(start.get(), checkpoint_format::round_up(wanted), 0, &got).ok() &&
           is_block_of_a_copy({start.get(), got}, opened_.identity);
  }

  CheckpointFault of_a_copy() const {
    return CheckpointFault::damaged(
        named() +
        " was written by a copy of this database that went on for itself\nHINT:  Put the file "
        "back that belongs to this data directory.");
  }
  CheckpointFault unreadable(const FileResult& result) const {
    return CheckpointFault::unreadable(named(), result);
  }
  std::string named() const { return checkpoint_file_named(opened_.path); }
  uint64_t padded() const { return checkpoint_format::round_up(file_.footer_bytes); }

  // More than a block has, unless it holds one long row.
  static constexpr uint64_t longest_looked_at = 2 * checkpoint_format::block_raw_bytes;

  FileSystem& files_;
  const CheckpointFile& file_;
  OpenedCheckpointFile& opened_;
  std::unique_ptr<File> handle_;
};

// Whether a start could do without the footer.
bool may_be_skipped(const CheckpointFault& fault, const CheckpointFile& file) {
  bool whole = file.taken.size() == 1 && file.taken[0].count == file.blocks;
  bool gone = fault.result.status == FileStatus::not_found;
  return fault.is_of_the_disk() && whole && (file.system_blocks == 0 || !gone);
}

}  // namespace

CheckpointFault open_checkpoint_file(FileSystem& files, const std::string& data_directory,
                                     const std::vector<std::string>& directories,
                                     const Uuid& database, const CheckpointFile& file,
                                     OpenedCheckpointFile* opened) {
  CheckpointFileIdentity identity = file.identity(database);
  std::vector<std::string> paths = {file.path(data_directory, database)};
  for (const std::string& directory : directories)
    paths.push_back(join_path(join_path(data_directory, directory), identity.name()));
  // One of that name may be another's: the number of a checkpoint that came to nothing is given
  // again.
  std::optional<CheckpointFault> first;
  for (const std::string& path : paths) {
    if (!is_there(files, path)) continue;
    OpenedCheckpointFile found{.identity = identity, .path = path, .footer = {}};
    CheckpointFault fault = FileOpener(files, file, found).run();
    if (first && fault) continue;
    *opened = std::move(found);
    if (!fault) return fault;
    first = std::move(fault);
  }
  if (first) return *first;
  *opened = {.identity = identity, .path = paths.front(), .footer = {}};
  return FileOpener(files, file, *opened).run();
}

bool open_checkpoint(FileSystem& files, const std::string& data_directory,
                     const std::vector<std::string>& directories, const Uuid& database,
                     const CheckpointManifest& manifest, std::vector<OpenedCheckpointFile>* opened,
                     std::vector<LostBlock>* lost, std::string* why) {
  for (const CheckpointFile& file : manifest.files) {
    OpenedCheckpointFile& next = opened->emplace_back();
    CheckpointFault fault =
        open_checkpoint_file(files, data_directory, directories, database, file, &next);
    if (!fault) continue;
    *why = fault.words;
    bool skippable = may_be_skipped(fault, file);
    if (lost == nullptr) {
      if (skippable && why->find('\n') == std::string::npos) *why += skip_hint;
      return false;
    }
    LostBlock missing;
    if (!skippable || !search_blocks(files, file, &next, &missing)) {
      *why += "; blocks of the catalog may be among those that are lost";
      return false;
    }
    missing.words = fault.words;
    lost->push_back(std::move(missing));
  }
  return true;
}

}  // namespace pgsilo
