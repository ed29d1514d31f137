#include "executor/spill/spill_file.h"

#include <algorithm>
#include <bit>

#include "base/memory_budget.h"

namespace pgsilo {

namespace {

// Each tape that is read has two buffers: a quarter of the budget holds some 32 of them.
size_t block_for(size_t budget) {
  return std::clamp(std::bit_floor(budget / 64), SpillFile::smallest_block,
                    SpillFile::largest_block);
}

}  // namespace

SpillFile::SpillFile(TemporaryFiles& files, size_t budget)
    : files_(files),
      block_bytes_(block_for(budget)),
      fan_(std::clamp(budget / (2 * block_bytes_), least_fan, most_fan)),
      file_(files.storage().create()) {
  spare_.reserve(most_writes);  // giving back needs no memory
}

size_t SpillFile::affordable_fan() const {
  size_t fan = fan_;
  while (fan > least_fan && !memory_admits(2 * fan * block_bytes_)) fan /= 2;
  return std::max(fan, least_fan);
}

SpillFile::TransferHandle SpillFile::take_transfer() {
  if (!spare_.empty()) {
    TransferHandle transfer = std::move(spare_.back());
    spare_.pop_back();
    return transfer;
  }
  if (buffers_ >= free_buffers) require_room(block_bytes_);
  TransferHandle made = files_.storage().make_transfer();
  made->file = file_;
  made->block_bytes = block_bytes_;
  made->buffer = std::make_unique_for_overwrite<char[]>(block_bytes_);
  ++buffers_;
  return made;
}

void SpillFile::keep(TransferHandle transfer) {
  if (spare_.size() < most_writes) {
    spare_.push_back(std::move(transfer));
  } else {
    --buffers_;
  }
}

// What is under way is left alone.
void SpillFile::give_back(TransferHandle transfer) {
  if (transfer == nullptr) return;
  if (files_.storage().is_done(*transfer)) return keep(std::move(transfer));
  --buffers_;
}

uint64_t SpillFile::new_block() {
  if (!free_blocks_.empty()) {
    uint64_t block = free_blocks_.back();
    free_blocks_.pop_back();
    return block;
  }
  files_.take(block_bytes_);
  return blocks_++;
}

void SpillFile::write(TransferHandle transfer, uint64_t block) {
  if (writes_.size() == most_writes) reap_oldest();
  transfer->kind = TemporaryStorage::Transfer::Kind::write;
  transfer->block = block;
  writes_.push_back(std::move(transfer));
  files_.submit(*writes_.back());
}

void SpillFile::reap_oldest() {
  files_.wait(*writes_.front());
  TransferHandle transfer = std::move(writes_.front());
  writes_.pop_front();
  keep(std::move(transfer));
}

void SpillFile::settle() {
  while (!writes_.empty()) reap_oldest();
}

void SpillFile::begin_read(TransferHandle& transfer, uint64_t block) {
  transfer->kind = TemporaryStorage::Transfer::Kind::read;
  transfer->block = block;
  files_.submit(*transfer);
}

}  // namespace pgsilo
