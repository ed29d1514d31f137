#include "executor/spill/row_tape.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sql/sql_error.h"

namespace pgsilo {

namespace {

constexpr size_t length_bytes = sizeof(uint32_t);
// What a row is worth beside its bytes, as work.
constexpr size_t row_work = 32;

size_t null_bytes(const TapeColumns& layout) { return (layout.size() + 7) / 8; }

size_t value_bytes(const Datum& value, bool by_reference) {
  if (value.null) return 0;
  return by_reference ? length_bytes + value.length : sizeof value.i64;
}

}  // namespace

void TapeWriter::append(const Datum* row) {
  size_t bytes = null_bytes(layout_);
  for (size_t i = 0; i < layout_.size(); ++i) bytes += value_bytes(row[i], layout_[i]);
  if (bytes > std::numeric_limits<uint32_t>::max()) {
    throw SqlError(sqlstate::program_limit_exceeded,
                   "row is too long for a temporary file: 4 GB are the most");
  }
  if (buffer_ == nullptr) {
    begin_block();
    tape_.number = file_.new_tape();
    tape_.first_block = block_;
  } else if (room() < length_bytes) {
    end_block();
  }
  put_row(row, static_cast<uint32_t>(bytes));
  ++tape_.rows;
  file_.did(row_work + bytes);
}

void TapeWriter::put_row(const Datum* row, uint32_t bytes) {
  put(&bytes, length_bytes);
  nulls_.assign(null_bytes(layout_), 0);
  for (size_t i = 0; i < layout_.size(); ++i)
    nulls_[i / 8] = static_cast<char>(nulls_[i / 8] | (row[i].null ? 1 << (i % 8) : 0));
  put(nulls_.data(), nulls_.size());
  for (size_t i = 0; i < layout_.size(); ++i) {
    if (row[i].null) continue;
    if (layout_[i]) {
      put(&row[i].length, length_bytes);
      put(row[i].ptr, row[i].length);
    } else {
      put(&row[i].i64, sizeof row[i].i64);
    }
  }
}

void TapeWriter::put(const void* bytes, size_t count) {
  const char* from = static_cast<const char*>(bytes);
  while (count > room()) {
    size_t part = room();
    std::memcpy(end(), from, part);
    used_ += part;
    from += part;
    count -= part;
    end_block();
  }
  if (count != 0) std::memcpy(end(), from, count);
  used_ += count;
}

void TapeWriter::begin_block() {
  if (buffer_ == nullptr) buffer_ = file_.take_transfer();
  block_ = file_.new_block();
  used_ = 0;
}

// The number of the block that follows is in this one.
void TapeWriter::end_block() {
  uint64_t next = file_.new_block();
  head() = {.next = next, .bytes = static_cast<uint32_t>(used_), .tape = tape_.number};
  tape_.bytes += used_;
  file_.write(std::move(buffer_), block_);
  buffer_ = file_.take_transfer();
  block_ = next;
  used_ = 0;
}

Tape TapeWriter::finish() {
  if (buffer_ != nullptr) {
    head() = {.bytes = static_cast<uint32_t>(used_), .tape = tape_.number};
    tape_.bytes += used_;
    file_.write(std::move(buffer_), block_);
  }
  return std::exchange(tape_, {});
}

void TapeReader::start(const Tape& tape, bool kept) {
  stop();
  kept_ = kept;
  if (tape.rows == 0) return;
  file_.settle();
  tape_ = tape.number;
  bytes_left_ = tape.bytes;
  begin_ahead(tape.first_block);
  rows_left_ = tape.rows;
}

void TapeReader::stop() {
  file_.give_back(std::move(current_));
  file_.give_back(std::move(ahead_));
  rows_left_ = bytes_left_ = 0;
  position_ = end_ = 0;
  long_row_.reset();
}

void TapeReader::begin_ahead(uint64_t block) {
  if (ahead_ == nullptr) ahead_ = file_.take_transfer();
  file_.begin_read(ahead_, block);
}

void TapeReader::advance() {
  file_.await_read(ahead_, tape_);
  std::swap(current_, ahead_);
  if (!kept_) file_.free_block(current_->block);
  const auto& head = *reinterpret_cast<const BlockHead*>(current_->buffer.get());
  position_ = sizeof head;
  end_ = position_ + head.bytes;
  bytes_left_ -= std::min<uint64_t>(bytes_left_, head.bytes);
  if (bytes_left_ != 0) begin_ahead(head.next);
}

const char* TapeReader::find_row() {
  if (end_ - position_ < length_bytes) advance();
  uint32_t bytes = 0;
  const char* block = current_->buffer.get();
  std::memcpy(&bytes, block + position_, length_bytes);
  position_ += length_bytes;
  file_.did(row_work + bytes);
  if (end_ - position_ < bytes) return gather(bytes);
  position_ += bytes;
  return block + position_ - bytes;
}

const char* TapeReader::gather(uint32_t bytes) {
  long_row_.reset();
  char* row = static_cast<char*>(long_row_.allocate(bytes, 1));
  for (size_t done = 0; done < bytes;) {
    if (position_ == end_) advance();
    size_t part = std::min<size_t>(bytes - done, end_ - position_);
    std::memcpy(row + done, current_->buffer.get() + position_, part);
    position_ += part;
    done += part;
    file_.did(part);
  }
  return row;
}

void TapeReader::take_apart(const char* bytes) {
  const char* nulls = bytes;
  bytes += null_bytes(layout_);
  for (size_t i = 0; i < layout_.size(); ++i) {
    if ((nulls[i / 8] >> (i % 8) & 1) != 0) {
      row_[i] = Datum();
      continue;
    }
    Datum value;
    value.null = false;
    if (layout_[i]) {
      std::memcpy(&value.length, bytes, length_bytes);
      value.ptr = bytes + length_bytes;
      bytes += length_bytes + value.length;
    } else {
      std::memcpy(&value.i64, bytes, sizeof value.i64);
      bytes += sizeof value.i64;
    }
    row_[i] = value;
  }
}

const Datum* TapeReader::next() {
  if (rows_left_ == 0) return nullptr;
  const char* bytes = find_row();
  --rows_left_;
  take_apart(bytes);
  return row_.data();
}

void TapeReader::skip(uint64_t rows) {
  for (; rows > 0 && rows_left_ > 0; --rows, --rows_left_) find_row();
}

}  // namespace pgsilo
