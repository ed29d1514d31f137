#include "wal/checkpoint/checkpoint_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "storage/relation/system_relations.h"

namespace pgsilo {

CheckpointFileWriter::CheckpointFileWriter(FileSystem& files, const std::string& base,
                                           std::string directory, CheckpointFileIdentity identity,
                                           bool compress)
    : files_(files),
      directory_(std::move(directory)),
      path_(join_path(join_path(base, directory_), identity.name())),
      identity_(identity) {
  if (compress) compressor_.emplace();
}

// By itself first: an open for direct I/O may fail and leave the file, or not say whose it is.
FileResult CheckpointFileWriter::create() {
  FileResult result =
      files_.open(path(), {.write = true, .create = true, .exclusive = true}, &file_);
  created_ = result.ok();
  if (!result.ok()) return result;
  file_.reset();
  result = files_.open(path(), {.write = true, .direct = true}, &file_);
  return result.status == FileStatus::unsupported ? files_.open(path(), {.write = true}, &file_)
                                                  : result;
}

void CheckpointFileWriter::make_room(size_t bytes) {
  if (capacity_ - buffered_ >= bytes) return;
  size_t capacity = std::max(2 * write_bytes, checkpoint_format::round_up(buffered_ + bytes));
  AlignedBytes larger = allocate_aligned(capacity);
  if (buffered_ != 0) std::memcpy(larger.get(), buffer_.get(), buffered_);
  buffer_ = std::move(larger);
  capacity_ = capacity;
}

FileResult CheckpointFileWriter::append(const CheckpointBlockBuilder& block) {
  make_room(block.sealed_bytes());
  Compressor* compressor = compressor_ ? &*compressor_ : nullptr;
  footer_.blocks.push_back(block.seal(buffer_.get() + buffered_, identity_, bytes(), compressor));
  buffered_ += footer_.blocks.back().bytes;
  return buffered_ >= write_bytes ? flush() : FileResult{};
}

FileResult CheckpointFileWriter::flush() {
  if (buffered_ == 0) return {};
  FileResult result = file_->write_at(buffer_.get(), buffered_, written_);
  written_ += buffered_;
  buffered_ = 0;
  if (result.ok() && written_ - synced_ >= sync_bytes) {
    result = file_->sync_data();
    synced_ = written_;
  }
  return result;
}

void CheckpointFileWriter::describe(std::string_view footer) {
  description_ = {.directory = directory_,
                  .checkpoint = identity_.checkpoint,
                  .number = identity_.file,
                  .incarnation = identity_.incarnation,
                  .footer_offset = bytes(),
                  .footer_bytes = footer.size(),
                  .footer_checksum = checksum_of_footer(footer),
                  .bytes = bytes() + checkpoint_format::round_up(footer.size()),
                  .blocks = footer_.blocks.size(),
                  .taken = {{0, footer_.blocks.size()}}};
  for (const CheckpointBlock& block : footer_.blocks) {
    description_.records += block.records;
    if (is_system_relation(block.relation)) ++description_.system_blocks;
  }
}

FileResult CheckpointFileWriter::finish(std::vector<RowIdFloor> row_ids) {
  footer_.row_ids = std::move(row_ids);
  std::string footer = encode_footer(footer_, identity_);
  describe(footer);
  make_room(checkpoint_format::round_up(footer.size()));
  std::memset(buffer_.get() + buffered_, 0, checkpoint_format::round_up(footer.size()));
  std::memcpy(buffer_.get() + buffered_, footer.data(), footer.size());
  buffered_ += checkpoint_format::round_up(footer.size());
  FileResult result = flush();
  if (result.ok()) result = file_->sync_data();
  file_.reset();
  buffer_.reset();
  capacity_ = 0;
  return result;
}

}  // namespace pgsilo
