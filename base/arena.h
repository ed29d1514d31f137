// A bump allocator: many small allocations, one release. Objects in it are trivially destructible.
// A limited one asks before it takes more than a little (base/memory_budget.h): for what grows with
// the rows that a statement looks at. Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/limits.h"

namespace pgsilo {

enum class ArenaLimit : uint8_t {
  none,
  memory_limit,  // for what grows
  reserve,       // for what goes on above memory_limit as well
};

class Arena {
 public:
  explicit Arena(size_t first_block_bytes = 4096) : next_block_bytes_(first_block_bytes) {}
  // Blocks longer than this must be admitted by the thread's MemoryBudget, if `limit` says so.
  static constexpr size_t free_block_bytes = size_t{256} << 10;
  explicit Arena(ArenaLimit limit) : subject_to_(limit) {}
  Arena(size_t first_block_bytes, ArenaLimit limit)
      : next_block_bytes_(first_block_bytes), subject_to_(limit) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Uninitialised memory, valid until reset() or destruction. Throws std::bad_alloc; a limited
  // arena MemoryLimitReached, which is one.
  void* allocate(size_t bytes, size_t align = alignof(std::max_align_t)) {
    uintptr_t start = (cursor_ + (align - 1)) & ~(uintptr_t{align} - 1);
    if (start + bytes > limit_ || start < cursor_) return allocate_slow(bytes, align);
    cursor_ = start + bytes;
    return reinterpret_cast<void*>(start);
  }

  template <typename T, typename... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>, "an arena runs no destructors");
    return new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }

  // `count` value-initialised elements.
  template <typename T>
  std::span<T> make_span(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>, "an arena runs no destructors");
    T* items = static_cast<T*>(allocate(sizeof(T) * count, alignof(T)));
    for (size_t i = 0; i < count; ++i) new (items + i) T{};
    return {items, count};
  }

  template <typename Container>
  auto copy_span(const Container& from) {
    using T = std::remove_cvref_t<decltype(*std::data(from))>;
    static_assert(std::is_trivially_copyable_v<T>, "copied as bytes");
    size_t count = std::size(from);
    T* items = static_cast<T*>(allocate(sizeof(T) * count, alignof(T)));
    if (count != 0) std::memcpy(static_cast<void*>(items), std::data(from), sizeof(T) * count);
    return std::span<T>(items, count);
  }

  std::string_view copy_string(std::string_view text) {
    char* copy = static_cast<char*>(allocate(text.size(), 1));
    if (!text.empty()) std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
  }

  // What came last and will not be used: its place is free, and a long block of its own goes.
  void give_back(const void* start, size_t bytes);
  // Frees everything; keeps a block of at most limits::kept_arena_bytes for reuse.
  void reset();
  // The same if there is more to it than what it keeps.
  void trim() {
    if (bytes_reserved_ > limits::kept_arena_bytes) reset();
  }
  size_t bytes_reserved() const { return bytes_reserved_; }

 private:
  struct Block {
    Block* previous;
    size_t bytes;
  };
  void* allocate_slow(size_t bytes, size_t align);
  void use_block(Block* block);
  void free_blocks(const Block* keep);

  uintptr_t cursor_ = 0;
  uintptr_t limit_ = 0;
  Block* blocks_ = nullptr;
  size_t next_block_bytes_ = 4096;
  size_t bytes_reserved_ = 0;
  ArenaLimit subject_to_ = ArenaLimit::none;
};

}  // namespace pgsilo
