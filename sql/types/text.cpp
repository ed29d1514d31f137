// The everyday functions of character strings.
#include "sql/types/text.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/long_work.h"
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

// The first character of `text`, which goes from there; none of an empty one.
std::string_view take_character(std::string_view& text) {
  std::string_view character = text.substr(0, text.empty() ? 0 : character_bytes(text, 0));
  text.remove_prefix(character.size());
  return character;
}

[[noreturn]] void throw_negative_length() {
  throw SqlError(sqlstate::substring_error, "negative substring length not allowed");
}

bool contains_character(std::string_view set, std::string_view character, WorkMeter& meter) {
  meter.did(set.size());
  for (size_t at = 0; at < set.size();) {
    size_t length = character_bytes(set, at);
    if (set.substr(at, length) == character) return true;
    at += length;
  }
  return false;
}

std::string_view pad(std::string_view text, int32_t length, std::string_view fill, bool left,
                     Arena& arena) {
  if (length <= 0) return {};
  int32_t present = text_length(text);
  if (present >= length) return text.substr(0, text_prefix_bytes(text, length));
  // As if each character were of the most bytes.
  if (!fill.empty() && static_cast<size_t>(length) > limits::max_value_bytes / 4) {
    throw SqlError(sqlstate::program_limit_exceeded, "requested length too large");
  }
  int32_t fill_length = text_length(fill);
  if (fill_length == 0) return text;
  int32_t missing = length - present;
  size_t bytes = static_cast<size_t>(missing / fill_length) * fill.size() +
                 text_prefix_bytes(fill, missing % fill_length);
  char* start = allocate_text(bytes + text.size(), arena);
  char* to = left ? start : copy_value(start, text);
  to = repeat_value(to, fill, bytes);
  if (left) copy_value(to, text);
  return {start, bytes + text.size()};
}

// What finding one costs, in a meter's bytes.
constexpr size_t per_part = 32;

// In windows: a search is as long as its text, and as both multiplied where what is sought is short
// enough not to be prepared for.
size_t find_in_windows(std::string_view text, std::string_view part, size_t from) {
  constexpr size_t short_part = 16;
  WorkMeter meter;
  while (text.size() - from >= part.size()) {
    size_t window =
        std::min(std::max(WorkMeter::block, part.size()) + part.size() - 1, text.size() - from);
    const char* start = text.data() + from;
    const void* found;
    if (part.size() <= short_part) {
      size_t at = std::string_view(start, window).find(part);
      found = at == std::string_view::npos ? nullptr : start + at;
    } else {
      found = memmem(start, window, part.data(), part.size());
    }
    if (found != nullptr) return static_cast<size_t>(static_cast<const char*>(found) - text.data());
    meter.did(window);
    from += window - part.size() + 1;
  }
  return std::string_view::npos;
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

size_t find_part(std::string_view text, std::string_view part, size_t from) {
  constexpr size_t short_text = 256;
  if (text.size() <= short_text) return text.find(part, from);
  if (from > text.size()) return std::string_view::npos;
  return part.empty() ? from : find_in_windows(text, part, from);
}

int32_t text_position(std::string_view text, std::string_view part) {
  size_t found = find_part(text, part);
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
  WorkMeter meter;
  while (left && !text.empty()) {
    size_t length = character_bytes(text, 0);
    if (!contains_character(characters, text.substr(0, length), meter)) break;
    text.remove_prefix(length);
  }
  while (right && !text.empty()) {
    size_t last = previous_character(text, text.size());
    if (!contains_character(characters, text.substr(last), meter)) break;
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
  repeat_value(start, text, bytes);
  return {start, bytes};
}

namespace {
size_t count_parts(std::string_view text, std::string_view part, WorkMeter& meter) {
  size_t count = 0;
  for (size_t at = find_part(text, part); at != std::string_view::npos;
       at = find_part(text, part, at + part.size())) {
    ++count;
    meter.did(part.size() + per_part);
  }
  return count;
}
}  // namespace

std::string_view text_replace(std::string_view text, std::string_view from, std::string_view to,
                              Arena& arena) {
  if (from.empty() || text.empty()) return text;
  WorkMeter meter;
  size_t occurrences = count_parts(text, from, meter);
  if (occurrences == 0) return text;
  size_t bytes = text.size() - occurrences * from.size() + occurrences * to.size();
  char* start = allocate_text(bytes, arena);
  char* at = start;
  size_t done = 0;
  for (size_t found = find_part(text, from); found != std::string_view::npos;
       found = find_part(text, from, done)) {
    at = copy_value(at, text.substr(done, found - done));
    at = copy_value(at, to);
    done = found + from.size();
    meter.did(from.size() + to.size() + per_part);
  }
  copy_value(at, text.substr(done));
  return {start, bytes};
}

std::string_view text_translate(std::string_view text, std::string_view from, std::string_view to,
                                Arena& arena) {
  // The first position of a character in `from` names its replacement in `to`; beyond its end there
  // is none.
  std::unordered_map<std::string_view, std::string_view> replacements;
  while (!from.empty()) {
    std::string_view replacement = take_character(to);
    replacements.try_emplace(take_character(from), replacement);
  }
  char* start = allocate_text(text.size() * 4, arena);
  char* at = start;
  WorkMeter meter;
  while (!text.empty()) {
    std::string_view character = take_character(text);
    auto found = replacements.find(character);
    std::string_view put = found == replacements.end() ? character : found->second;
    at += put.copy(at, put.size());
    meter.did(per_part);
  }
  return {start, static_cast<size_t>(at - start)};
}

std::string_view text_reverse(std::string_view text, Arena& arena) {
  char* start = allocate_text(text.size(), arena);
  char* to = start + text.size();
  WorkMeter meter;
  for (size_t at = 0; at < text.size();) {
    size_t length = character_bytes(text, at);
    to -= length;
    text.copy(to, length, at);
    at += length;
    meter.did(length);
  }
  return {start, text.size()};
}

std::string_view text_split_part(std::string_view text, std::string_view delimiter, int32_t field) {
  if (field == 0) {
    throw SqlError(sqlstate::invalid_parameter_value, "field position must not be zero");
  }
  if (text.empty()) return {};
  if (delimiter.empty()) return field == 1 || field == -1 ? text : std::string_view();
  WorkMeter meter;
  if (field < 0) {
    int64_t fields = 1 + static_cast<int64_t>(count_parts(text, delimiter, meter));
    if (-int64_t{field} > fields) return {};
    field = static_cast<int32_t>(fields + field + 1);
  }
  size_t start = 0;
  for (int32_t i = 1; i < field; ++i) {
    size_t found = find_part(text, delimiter, start);
    if (found == std::string_view::npos) return {};
    start = found + delimiter.size();
    meter.did(delimiter.size() + per_part);
  }
  return text.substr(start, find_part(text, delimiter, start) - start);
}

std::string_view text_concat(std::string_view left, std::string_view right, Arena& arena) {
  if (left.empty()) return right;
  if (right.empty()) return left;
  size_t bytes = left.size() + right.size();
  char* start = allocate_text(bytes, arena);
  copy_value(copy_value(start, left), right);
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
