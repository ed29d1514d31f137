#include "executor/spill/spill_file.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/memory_budget.h"
#include "executor/spill/block_format.h"
#include "executor/spill/spill_error.h"

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
      fan_(std::clamp(budget / (BufferPlan::of_reader * block_bytes_), BufferPlan::least_fan,
                      BufferPlan::most_fan)),
      file_(files.create()) {
  spare_.reserve(BufferPlan::writes);  // giving back needs no memory
}

size_t SpillFile::begin_merge(size_t tapes) {
  size_t fan = std::min(tapes, fan_);
  while (fan > BufferPlan::least_fan && !promise(BufferPlan::merge(fan)))
    fan = std::max(fan / 2, BufferPlan::least_fan);
  return fan;
}

size_t SpillFile::begin_division(size_t most_tapes) {
  size_t tapes = std::bit_floor(std::min(most_tapes, fan_));
  while (tapes > BufferPlan::least_fan && !promise(BufferPlan::division(tapes))) tapes /= 2;
  return tapes;
}

// They are made at once: a promise of memory that is not taken yet would be forgotten with the next
// measurement.
bool SpillFile::promise(size_t buffers) {
  if (buffers <= promised()) return true;
  if (!memory_admits((buffers - promised()) * block_bytes_)) return false;
  spare_.reserve(buffers);
  promised_ = buffers;
  while (buffers_ < buffers) spare_.push_back(make_buffer());
  return true;
}

SpillFile::TransferHandle SpillFile::make_buffer() {
  TransferHandle made = files_.storage().make_transfer();
  made->file = file_;
  made->block_bytes = block_bytes_;
  made->buffer = std::make_unique_for_overwrite<char[]>(block_bytes_);
  ++buffers_;
  return made;
}

SpillFile::TransferHandle SpillFile::take_transfer() {
  if (!spare_.empty()) {
    TransferHandle transfer = std::move(spare_.back());
    spare_.pop_back();
    return transfer;
  }
  if (buffers_ >= promised()) require_room(block_bytes_);
  return make_buffer();
}

void SpillFile::keep(TransferHandle transfer) {
  if (spare_.size() < BufferPlan::writes || buffers_ <= promised_) {
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

void SpillFile::forget_tapes() {
  settle();
  free_blocks_.resize(blocks_);
  std::iota(free_blocks_.rbegin(), free_blocks_.rend(), uint64_t{0});
}

void SpillFile::write(TransferHandle transfer, uint64_t block) {
  if (writes_.size() == BufferPlan::writes) reap_oldest();
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

// One of another tape that had the block before is whole, too.
void SpillFile::await_read(TransferHandle& transfer, uint32_t tape) {
  files_.wait(*transfer);
  const auto& head = *reinterpret_cast<const BlockHead*>(transfer->buffer.get());
  if (head.tape != tape) throw damaged_block(file_->path(), transfer->block);
}

}  // namespace pgsilo
