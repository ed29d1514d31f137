#include "base/byte_buffer.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <new>

#include "base/long_work.h"
#include "base/memory_budget.h"

namespace pgsilo {

namespace {
constexpr size_t max_decimal_bytes = 20;
constexpr size_t first_capacity = 64;
// What is longer moves in parts.
constexpr size_t long_bytes = size_t{1} << 20;

struct Free {
  void operator()(char* data) const { std::free(data); }
};
}  // namespace

ByteBuffer::~ByteBuffer() { std::free(data_); }

void ByteBuffer::grow(size_t bytes) {
  if (bytes > SIZE_MAX / 4 - size_) throw std::bad_alloc();
  size_t capacity = std::max({size_ + bytes, capacity_ * 2, first_capacity});
  if (asks_ && capacity > free_bytes) require_room(capacity);  // beside what is there: it may move
  if (asks_ && size_ > long_bytes) {
    move_in_parts(capacity);
  } else {
    void* data = std::realloc(data_, capacity);
    if (data == nullptr) throw std::bad_alloc();
    data_ = static_cast<char*>(data);
  }
  capacity_ = capacity;
}

void ByteBuffer::move_in_parts(size_t capacity) {
  std::unique_ptr<char, Free> data(static_cast<char*>(std::malloc(capacity)));
  if (data == nullptr) throw std::bad_alloc();
  copy_value(data.get(), view());
  std::free(std::exchange(data_, data.release()));
}

void ByteBuffer::append_decimal(int64_t value) {
  char* place = reserve(max_decimal_bytes);
  commit_to(std::to_chars(place, place + max_decimal_bytes, value).ptr);
}

void ByteBuffer::append_decimal(uint64_t value) {
  char* place = reserve(max_decimal_bytes);
  commit_to(std::to_chars(place, place + max_decimal_bytes, value).ptr);
}

void ByteBuffer::append_padded(uint64_t value, int width) {
  char digits[max_decimal_bytes];
  size_t count =
      static_cast<size_t>(std::to_chars(digits, digits + sizeof digits, value).ptr - digits);
  if (static_cast<size_t>(width) > count) append_repeated('0', static_cast<size_t>(width) - count);
  append(std::string_view(digits, count));
}

}  // namespace pgsilo
