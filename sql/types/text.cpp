// The everyday functions of character strings.
#include "sql/types/text.h"

#include <algorithm>

#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/types/integer.h"
#include "sql/types/text_characters.h"

namespace pgsilo {

namespace {

char* allocate_text(size_t bytes, Arena& arena) {
  if (bytes > limits::max_value_bytes) {
    throw SqlError(sqlstate::program_limit_exceeded, "requested length too large");
  }
  return static_cast<char*>(arena.allocate(bytes + 1, 1));
}

char* put(char* to, std::string_view text) {
  text.copy(to, text.size());
  return to + text.size();
}

[[noreturn]] void throw_negative_length() {
  throw SqlError(sqlstate::substring_error, "negative substring length not allowed");
}

bool contains_character(std::string_view set, std::string_view character) {
  for (size_t at = 0; at < set.size();) {
    size_t length = character_bytes(set, at);
    if (set.substr(at, length) == character) return true;
    at += length;
  }
  return false;
}

// `count` characters of `fill` repeated.
std::string_view make_fill(std::string_view fill, int32_t count, Arena& arena) {
  int32_t fill_length = text_length(fill);
  if (count <= 0 || fill_length == 0) return {};
  auto whole = static_cast<size_t>(count / fill_length);
  std::string_view rest = fill.substr(0, text_prefix_bytes(fill, count % fill_length));
  size_t bytes = whole * fill.size() + rest.size();
  char* start = allocate_text(bytes, arena);
  char* to = start;
  for (size_t i = 0; i < whole; ++i) to = put(to, fill);
  put(to, rest);
  return {start, bytes};
}

std::string_view pad(std::string_view text, int32_t length, std::string_view fill, bool left,
                     Arena& arena) {
  if (length <= 0) return {};
  int32_t present = text_length(text);
  if (present >= length) return text.substr(0, text_prefix_bytes(text, length));
  std::string_view filled = make_fill(fill, length - present, arena);
  return left ? text_concat(filled, text, arena) : text_concat(text, filled, arena);
}

}  // namespace

std::string_view text_substring(std::string_view text, int32_t start) {
  return text.substr(text_prefix_bytes(text, int64_t{start} - 1));
}

std::string_view text_substring(std::string_view text, int32_t start, int32_t count) {
  if (count < 0) throw_negative_length();
  int64_t first = std::max<int64_t>(start, 1);
  int64_t end = int64_t{start} + count;
  if (end <= first) return {};
  std::string_view rest = text.substr(text_prefix_bytes(text, first - 1));
  return rest.substr(0, text_prefix_bytes(rest, end - first));
}

std::string_view text_left(std::string_view text, int32_t count) {
  int64_t characters = count >= 0 ? int64_t{count} : int64_t{text_length(text)} + count;
  return text.substr(0, text_prefix_bytes(text, characters));
}

std::string_view text_right(std::string_view text, int32_t count) {
  int64_t skipped = count >= 0 ? int64_t{text_length(text)} - count : -int64_t{count};
  return text.substr(text_prefix_bytes(text, skipped));
}

int32_t text_position(std::string_view text, std::string_view part) {
  size_t found = text.find(part);
  return found == std::string_view::npos ? 0 : text_length(text.substr(0, found)) + 1;
}

std::string_view text_overlay(std::string_view text, std::string_view replacement, int32_t start,
                              int32_t count, Arena& arena) {
  if (start <= 0) throw_negative_length();
  int32_t behind = int_add<int32_t>(start, count);
  std::string_view before = text_substring(text, 1, start - 1);
  std::string_view after = text_substring(text, behind);
  return text_concat(text_concat(before, replacement, arena), after, arena);
}

std::string_view text_trim(std::string_view text, std::string_view characters, bool left,
                           bool right) {
  while (left && !text.empty()) {
    size_t length = character_bytes(text, 0);
    if (!contains_character(characters, text.substr(0, length))) break;
    text.remove_prefix(length);
  }
  while (right && !text.empty()) {
    size_t last = previous_character(text, text.size());
    if (!contains_character(characters, text.substr(last))) break;
    text = text.substr(0, last);
  }
  return text;
}

std::string_view text_pad_left(std::string_view text, int32_t length, std::string_view fill,
                               Arena& arena) {
  return pad(text, length, fill, true, arena);
}

std::string_view text_pad_right(std::string_view text, int32_t length, std::string_view fill,
                                Arena& arena) {
  return pad(text, length, fill, false, arena);
}

std::string_view text_repeat(std::string_view text, int32_t count, Arena& arena) {
  if (count <= 0 || text.empty()) return {};
  size_t bytes = text.size() * static_cast<size_t>(count);
  char* start = allocate_text(bytes, arena);
  char* to = start;
  for (int32_t i = 0; i < count; ++i) to = put(to, text);
  return {start, bytes};
}

std::string_view text_replace(std::string_view text, std::string_view from, std::string_view to,
                              Arena& arena) {
  if (from.empty() || text.empty()) return text;
  size_t occurrences = 0;
  for (size_t at = text.find(from); at != std::string_view::npos;
       at = text.find(from, at + from.size())) {
    ++occurrences;
  }
  if (occurrences == 0) return text;
  size_t bytes = text.size() - occurrences * from.size() + occurrences * to.size();
  char* start = allocate_text(bytes, arena);
  char* at = start;
  size_t done = 0;
  for (size_t found = text.find(from); found != std::string_view::npos;
       found = text.find(from, done)) {
    at = put(at, text.substr(done, found - done));
    at = put(at, to);
    done = found + from.size();
  }
  put(at, text.substr(done));
  return {start, bytes};
}

std::string_view text_translate(std::string_view text, std::string_view from, std::string_view to,
                                Arena& arena) {
  char* start = allocate_text(text.size() * 4, arena);
  char* at = start;
  for (size_t i = 0; i < text.size();) {
    size_t length = character_bytes(text, i);
    std::string_view character = text.substr(i, length);
    i += length;
    // The position of the character in `from` names its replacement in `to`; beyond its end there
    // is none.
    size_t position = 0;
    size_t place = 0;
    while (place < from.size() && from.substr(place, character_bytes(from, place)) != character) {
      place += character_bytes(from, place);
      ++position;
    }
    if (place >= from.size()) {
      at = put(at, character);
      continue;
    }
    std::string_view rest = to.substr(text_prefix_bytes(to, static_cast<int64_t>(position)));
    if (!rest.empty()) at = put(at, rest.substr(0, character_bytes(rest, 0)));
  }
  return {start, static_cast<size_t>(at - start)};
}

std::string_view text_reverse(std::string_view text, Arena& arena) {
  char* start = allocate_text(text.size(), arena);
  char* to = start + text.size();
  for (size_t at = 0; at < text.size();) {
    size_t length = character_bytes(text, at);
    to -= length;
    put(to, text.substr(at, length));
    at += length;
  }
  return {start, text.size()};
}

std::string_view text_split_part(std::string_view text, std::string_view delimiter, int32_t field) {
  if (field == 0) {
    throw SqlError(sqlstate::invalid_parameter_value, "field position must not be zero");
  }
  if (text.empty()) return {};
  if (delimiter.empty()) return field == 1 || field == -1 ? text : std::string_view();
  if (field < 0) {
    int64_t fields = 1;
    for (size_t at = text.find(delimiter); at != std::string_view::npos;
         at = text.find(delimiter, at + delimiter.size())) {
      ++fields;
    }
    if (-int64_t{field} > fields) return {};
    field = static_cast<int32_t>(fields + field + 1);
  }
  size_t start = 0;
  for (int32_t i = 1; i < field; ++i) {
    size_t found = text.find(delimiter, start);
    if (found == std::string_view::npos) return {};
    start = found + delimiter.size();
  }
  return text.substr(start, text.find(delimiter, start) - start);
}

std::string_view text_concat(std::string_view left, std::string_view right, Arena& arena) {
  if (left.empty()) return right;
  if (right.empty()) return left;
  size_t bytes = left.size() + right.size();
  char* start = allocate_text(bytes, arena);
  put(put(start, left), right);
  return {start, bytes};
}

int32_t text_ascii(std::string_view text) {
  return text.empty() ? 0
                      : static_cast<int32_t>(code_point(text.substr(0, character_bytes(text, 0))));
}

std::string_view text_chr(int32_t code, Arena& arena) {
  auto fail = [](std::string message) {
    throw SqlError(sqlstate::program_limit_exceeded, std::move(message));
  };
  if (code < 0) {
    throw SqlError(sqlstate::invalid_parameter_value, "character number must be positive");
  }
  if (code == 0) fail("null character not permitted");
  if (code > 0x10ffff) fail(concat("requested character too large for encoding: ", code));
  if (code >= 0xd800 && code <= 0xdfff) {
    fail(concat("requested character not valid for encoding: ", code));
  }
  char* start = allocate_text(4, arena);
  char* end = put_code_point(start, static_cast<uint32_t>(code));
  return {start, static_cast<size_t>(end - start)};
}

std::string_view text_to_hex(uint64_t value, Arena& arena) {
  constexpr size_t digits = 16;
  char* end = allocate_text(digits, arena) + digits;
  char* at = end;
  do {
    *--at = "0123456789abcdef"[value & 15];
    value >>= 4;
  } while (value != 0);
  return {at, static_cast<size_t>(end - at)};
}

}  // namespace pgsilo
