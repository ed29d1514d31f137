// UTF-8: checking, counting and cutting.
#include <cstring>

#include "base/byte_order.h"
#include "base/long_work.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"

namespace pgsilo {

namespace {

constexpr uint64_t every_high_bit = 0x8080808080808080u;
constexpr uint64_t every_low_bit = 0x0101010101010101u;

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// The length a sequence claims by its first byte; 1 for bytes that cannot begin one, as PostgreSQL
// reports them.
size_t claimed_length(unsigned char first) {
  if (first >= 0xc0 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  if (first >= 0xf0 && first < 0xf8) return 4;
  return 1;
}

// The length of the valid sequence at `at`, 0 if it is none (RFC 3629: no overlong forms, no
// surrogates, <= U+10FFFF).
size_t sequence_length(const unsigned char* at, size_t left) {
  unsigned char first = at[0];
  if (first < 0x80) return first == 0 ? 0 : 1;
  size_t length = claimed_length(first);
  if (length == 1 || length > left) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((at[i] & 0xc0) != 0x80) return 0;
  }
  if (length == 2) return first >= 0xc2 ? 2 : 0;
  if (length == 3) {
    if (first == 0xe0 && at[1] < 0xa0) return 0;
    if (first == 0xed && at[1] > 0x9f) return 0;
    return 3;
  }
  if (first == 0xf0 && at[1] < 0x90) return 0;
  if (first > 0xf4 || (first == 0xf4 && at[1] > 0x8f)) return 0;
  return 4;
}

}  // namespace

size_t valid_text_prefix(std::string_view bytes) {
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t at = 0;
  size_t pause_at = WorkMeter::block;
  while (at < bytes.size()) {
    if (at >= pause_at) [[unlikely]] {
      pause_work();
      pause_at = at + WorkMeter::block;
    }
    // Eight ASCII characters at a time: no high bit set and no byte zero.
    if (bytes.size() - at >= 8) {
      uint64_t word = load_le64(data + at);
      if (((word | (word - every_low_bit)) & every_high_bit) == 0) {
        at += 8;
        continue;
      }
    }
    size_t length = sequence_length(data + at, bytes.size() - at);
    if (length == 0) return at;
    at += length;
  }
  return at;
}

void validate_text(std::string_view bytes) {
  size_t valid = valid_text_prefix(bytes);
  if (valid == bytes.size()) return;
  std::string_view rest = bytes.substr(valid);
  size_t shown = std::min(claimed_length(static_cast<unsigned char>(rest[0])), rest.size());
  std::string message = "invalid byte sequence for encoding \"UTF8\":";
  static constexpr char hex_digits[] = "0123456789abcdef";
  for (size_t i = 0; i < shown; ++i) {
    auto byte = static_cast<unsigned char>(rest[i]);
    message += " 0x";
    message += hex_digits[byte >> 4];
    message += hex_digits[byte & 15];
  }
  throw SqlError(sqlstate::character_not_in_repertoire, std::move(message));
}

int32_t text_length(std::string_view text) {
  size_t continuations = 0;
  in_blocks(text.size(), [&](size_t begin, size_t stop) {
    const char* at = text.data() + begin;
    const char* end = text.data() + stop;
    // A continuation byte has bit 7 set and bit 6 clear.
    for (; end - at >= 8; at += 8) {
      uint64_t word = load_le64(at);
      continuations +=
          static_cast<size_t>(__builtin_popcountll(word & ~(word << 1) & every_high_bit));
    }
    for (; at != end; ++at) continuations += is_continuation(*at);
  });
  return static_cast<int32_t>(text.size() - continuations);
}

size_t text_prefix_bytes(std::string_view text, int64_t characters) {
  if (characters <= 0) return 0;
  if (static_cast<uint64_t>(characters) >= text.size()) return text.size();
  size_t at = 0;
  WorkMeter meter;
  while (at < text.size() && characters-- > 0) {
    meter.did(1);
    ++at;
    while (at < text.size() && is_continuation(text[at])) ++at;
  }
  return at;
}

std::string_view text_clip(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && is_continuation(text[bytes])) --bytes;
  return text.substr(0, bytes);
}

std::string_view bpchar_trim(std::string_view text) {
  constexpr uint64_t blanks = 0x2020202020202020;
  size_t size = text.size();
  for (uint64_t last; size >= sizeof last; size -= sizeof last) {
    std::memcpy(&last, text.data() + size - sizeof last, sizeof last);
    if (last != blanks) break;
  }
  while (size > 0 && text[size - 1] == ' ') --size;
  return text.substr(0, size);
}

std::string_view bpchar_pad(std::string_view text, int32_t characters, Arena& arena) {
  int32_t missing = characters - text_length(text);
  if (missing <= 0) return text;
  size_t bytes = text.size() + static_cast<size_t>(missing);
  char* padded = static_cast<char*>(arena.allocate(bytes, 1));
  fill_value(copy_value(padded, text), ' ', static_cast<size_t>(missing));
  return {padded, bytes};
}

}  // namespace pgsilo
