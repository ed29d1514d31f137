// A key as the tree sees it: 8 bytes at a time. In layer d (0, 1, ...) a key is represented by its
// slice, bytes 8d to 8d+7 as a big-endian integer padded with zeros, and its length class: how many
// of those bytes it really has (0 to 8), or `longer` if it goes on behind them. Pairs (slice,
// length class) order like the byte strings they stand for: equal slices with different lengths
// differ only in trailing zero bytes. Thread safety: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace pgsilo {

using KeySlice = uint64_t;
inline constexpr size_t slice_bytes = 8;

// 0 to 8, or `longer`.
using LengthClass = uint8_t;
inline constexpr LengthClass longer = 9;

inline KeySlice load_slice(const char* bytes, size_t count) {
  uint64_t word = 0;
  if (count >= slice_bytes) {
    std::memcpy(&word, bytes, slice_bytes);
  } else if (count >= 4) {
    // Two overlapping halves, so that no byte is loaded twice into the wrong place and none behind
    // the end.
    uint32_t first, last;
    std::memcpy(&first, bytes, 4);
    std::memcpy(&last, bytes + count - 4, 4);
    return uint64_t{__builtin_bswap32(first)} << 32 | uint64_t{__builtin_bswap32(last)}
                                                          << (64 - count * 8);
  } else if (count > 0) {
    word = static_cast<unsigned char>(bytes[0]);
    if (count > 1) word |= uint64_t{static_cast<unsigned char>(bytes[1])} << 8;
    if (count > 2) word |= uint64_t{static_cast<unsigned char>(bytes[2])} << 16;
  }
  return __builtin_bswap64(word);
}
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

// A key and the layer at which it is being looked at.
class KeyCursor {
 public:
  explicit KeyCursor(std::string_view key) : key_(key) { load(); }
  KeyCursor(std::string_view key, size_t depth) : key_(key), offset_(depth * slice_bytes) {
    load();
  }

  KeySlice slice() const { return slice_; }
  LengthClass length() const { return length_; }
  bool goes_on() const { return length_ == longer; }
  size_t depth() const { return offset_ / slice_bytes; }
  std::string_view key() const { return key_; }
  // What follows the slice; only if goes_on().
  std::string_view rest() const { return key_.substr(offset_ + slice_bytes); }
  // To the next layer; only if goes_on().
  void descend() {
    offset_ += slice_bytes;
    load();
  }

 private:
  void load() {
    size_t left = key_.size() - offset_;
    slice_ = load_slice(key_.data() + offset_, left);
    length_ = left > slice_bytes ? longer : static_cast<LengthClass>(left);
  }

  std::string_view key_;
  size_t offset_ = 0;
  KeySlice slice_;
  LengthClass length_;
};

// Order within a layer.
inline int compare_in_layer(KeySlice a_slice, LengthClass a_length, KeySlice b_slice,
                            LengthClass b_length) {
  if (a_slice != b_slice) return a_slice < b_slice ? -1 : 1;
  return static_cast<int>(a_length) - static_cast<int>(b_length);
}

}  // namespace pgsilo
