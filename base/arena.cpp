#include "base/arena.h"

#include <algorithm>
#include <cstdlib>

#include "base/freed_memory.h"
#include "base/memory_budget.h"

namespace pgsilo {

namespace {
constexpr size_t largest_regular_block_bytes = size_t{1} << 20;
}  // namespace

Arena::~Arena() { free_blocks(nullptr); }

// All but one.
void Arena::free_blocks(const Block* keep) {
  bool was_long = false;
  while (blocks_ != nullptr) {
    Block* previous = blocks_->previous;
    if (blocks_ != keep) {
      was_long |= blocks_->bytes >= long_allocation_bytes;
      std::free(blocks_);
    }
    blocks_ = previous;
  }
  if (was_long) note_long_free();
}

void Arena::use_block(Block* block) {
  cursor_ = reinterpret_cast<uintptr_t>(block) + sizeof(Block);
  limit_ = reinterpret_cast<uintptr_t>(block) + block->bytes;
}

void* Arena::allocate_slow(size_t bytes, size_t align) {
  if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
  size_t needed = sizeof(Block) + align + bytes;
  size_t block_bytes = std::max(next_block_bytes_, needed);
  if (subject_to_ != ArenaLimit::none && block_bytes > free_block_bytes) {
    require_room(block_bytes, subject_to_ == ArenaLimit::reserve ? MemoryPurpose::upkeep
                                                                 : MemoryPurpose::growth);
  }
  auto* block = static_cast<Block*>(std::malloc(block_bytes));
  if (block == nullptr) throw std::bad_alloc();
  *block = {blocks_, block_bytes};
  blocks_ = block;
  bytes_reserved_ += block_bytes;
  next_block_bytes_ =
      std::min(next_block_bytes_ * 2, std::max(largest_regular_block_bytes, next_block_bytes_));
  use_block(block);
  return allocate(bytes, align);
}

void Arena::give_back(const void* start, size_t bytes) {
  if (blocks_ == nullptr) return;
  auto first = reinterpret_cast<uintptr_t>(blocks_) + sizeof(Block);
  auto given = reinterpret_cast<uintptr_t>(start);
  if (given + bytes != cursor_) return;
  cursor_ = given;
  if (given != first || blocks_->bytes <= limits::kept_arena_bytes) return;
  Block* block = std::exchange(blocks_, blocks_->previous);
  bytes_reserved_ -= block->bytes;
  next_block_bytes_ = std::min(next_block_bytes_, block->bytes);
  bool was_long = block->bytes >= long_allocation_bytes;
  std::free(block);
  if (was_long) note_long_free();
  cursor_ = limit_ = 0;
}

void Arena::reset() {
  if (blocks_ == nullptr) return;
  Block* keep = nullptr;
  for (Block* block = blocks_; block != nullptr; block = block->previous) {
    bool is_longer = keep == nullptr || block->bytes > keep->bytes;
    if (is_longer && block->bytes <= limits::kept_arena_bytes) keep = block;
  }
  free_blocks(keep);
  next_block_bytes_ = std::min(next_block_bytes_, 2 * limits::kept_arena_bytes);
  bytes_reserved_ = 0;
  cursor_ = limit_ = 0;
  if (keep == nullptr) return;
  keep->previous = nullptr;
  blocks_ = keep;
  bytes_reserved_ = keep->bytes;
  use_block(keep);
}

}  // namespace pgsilo
