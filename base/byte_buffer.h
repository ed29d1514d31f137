// A growable run of bytes that is only appended to: where values are printed, messages are built
// and keys are encoded. Thread safety: none; one owner. Invariants: size() <= capacity; a pointer
// into the buffer is valid until the next call that may grow it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/byte_order.h"

namespace pgsilo {

class ByteBuffer {
 public:
  ByteBuffer() = default;
  explicit ByteBuffer(size_t capacity) { reserve(capacity); }
  ~ByteBuffer();
  ByteBuffer(ByteBuffer&& other) noexcept { swap(other); }
  ByteBuffer& operator=(ByteBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ByteBuffer(const ByteBuffer&) = delete;
  ByteBuffer& operator=(const ByteBuffer&) = delete;

  const char* data() const { return data_; }
  char* data() { return data_; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  std::string_view view() const { return {data_, size_}; }
  // Whether growth beyond `free_bytes` asks whether memory_limit admits it, and throws
  // MemoryLimitReached when not, as it does unless told otherwise. It asks where it allocates: what
  // was admitted earlier, before the fiber gave way, a measurement in between would give to another
  // as well. What must go on above the limit does not ask. Nor does that give way to others while a
  // long content moves, as what asks does (base/long_work.h). It is the buffer's own: no content
  // that moves takes it along.
  void set_asks(bool asks) { asks_ = asks; }
  static constexpr size_t free_bytes = size_t{256} << 10;

  // Forgets the content, keeps the memory.
  void clear() { size_ = 0; }
  // Drops what was appended after the buffer had `size` bytes.
  void truncate(size_t size) { size_ = size; }

  // Room for `bytes` more; throws std::bad_alloc. The returned place becomes content by commit().
  char* reserve(size_t bytes) {
    if (capacity_ - size_ < bytes) grow(bytes);
    return data_ + size_;
  }
  void commit(size_t bytes) { size_ += bytes; }
  void commit_to(const char* end) { size_ = static_cast<size_t>(end - data_); }

  void append(char byte) {
    *reserve(1) = byte;
    ++size_;
  }
  void append(std::string_view bytes) {
    if (bytes.empty()) return;
    std::memcpy(reserve(bytes.size()), bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  void append(const char* text) { append(std::string_view(text)); }
  void append_repeated(char byte, size_t count) {
    if (count == 0) return;
    std::memset(reserve(count), byte, count);
    size_ += count;
  }
  void append_be16(uint16_t value) { append_with(value, store_be<uint16_t>); }
  void append_be32(uint32_t value) { append_with(value, store_be<uint32_t>); }
  void append_be64(uint64_t value) { append_with(value, store_be<uint64_t>); }
  // Decimal digits.
  void append_decimal(int64_t value);
  void append_decimal(uint64_t value);
  void append_decimal(int value) { append_decimal(static_cast<int64_t>(value)); }
  void append_decimal(unsigned value) { append_decimal(static_cast<uint64_t>(value)); }
  // Decimal digits, zero-padded on the left to at least `width` digits.
  void append_padded(uint64_t value, int width);

  // Overwrites four bytes at `offset` (< size() - 3): for lengths known only when a message is
  // complete.
  void patch_be32(size_t offset, uint32_t value) { store_be32(data_ + offset, value); }

  void swap(ByteBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  template <typename Unsigned>
  void append_with(Unsigned value, void (*store)(void*, Unsigned)) {
    store(reserve(sizeof value), value);
    size_ += sizeof value;
  }
  void grow(size_t bytes);
  // Others have their turns meanwhile.
  void move_in_parts(size_t capacity);

  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  bool asks_ = true;
};

}  // namespace pgsilo
