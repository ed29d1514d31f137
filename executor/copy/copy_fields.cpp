#include "executor/copy/copy_fields.h"

#include <cstring>

#include "sql/sql_error.h"
#include "sql/types/text.h"

namespace pgsilo {

std::span<const CopyField> CopyFieldSplitter::split(std::string_view line, bool plain) {
  count_ = 0;
  scratch_.clear();
  if (options_.csv) {
    scratch_.reserve(line.size());
    split_csv(line);
  } else if (plain || std::memchr(line.data(), '\\', line.size()) == nullptr) {
    split_plain(line);
  } else {
    scratch_.reserve(line.size());
    split_text(line);
  }
  return std::span(fields_).first(count_);
}

void CopyFieldSplitter::split_plain(std::string_view line) {
  const char* at = line.data();
  const char* end = at + line.size();
  for (;;) {
    const auto* stop = static_cast<const char*>(
        std::memchr(at, options_.delimiter, static_cast<size_t>(end - at)));
    std::string_view text(at, static_cast<size_t>((stop == nullptr ? end : stop) - at));
    add(text, text == options_.null_text, false);
    if (stop == nullptr) return;
    at = stop + 1;
  }
}

namespace {
int hex_digit(char byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
  if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
  return -1;
}
bool is_octal(char byte) { return byte >= '0' && byte <= '7'; }
}  // namespace

// Appends what the escape behind the backslash stands for; returns the place behind it.
size_t CopyFieldSplitter::unescape(std::string_view line, size_t at, bool* made_byte) {
  char byte = line[at++];
  switch (byte) {
    case 'b':
      scratch_.append('\b');
      return at;
    case 'f':
      scratch_.append('\f');
      return at;
    case 'n':
      scratch_.append('\n');
      return at;
    case 'r':
      scratch_.append('\r');
      return at;
    case 't':
      scratch_.append('\t');
      return at;
    case 'v':
      scratch_.append('\v');
      return at;
    default:
      break;
  }
  int value = 0;
  if (is_octal(byte)) {
    value = byte - '0';
    for (int i = 0; i < 2 && at < line.size() && is_octal(line[at]); ++i)
      value = value * 8 + (line[at++] - '0');
  } else if (byte == 'x' && at < line.size() && hex_digit(line[at]) >= 0) {
    for (int i = 0; i < 2 && at < line.size() && hex_digit(line[at]) >= 0; ++i) {
      value = value * 16 + hex_digit(line[at++]);
    }
  } else {
    scratch_.append(byte);
    return at;
  }
  scratch_.append(static_cast<char>(value));
  *made_byte = *made_byte || (value & 0x80) != 0 || (value & 0xFF) == 0;
  return at;
}

void CopyFieldSplitter::split_text(std::string_view line) {
  size_t at = 0;
  for (;;) {
    size_t start = at;
    size_t scratch_start = scratch_.size();
    bool made_byte = false;
    while (at < line.size() && line[at] != options_.delimiter) {
      if (line[at] != '\\') {
        scratch_.append(line[at++]);
      } else if (++at < line.size()) {  // the last byte of all escapes nothing
        at = unescape(line, at, &made_byte);
      }
    }
    // The null text is compared with the field as it was written.
    bool null = line.substr(start, at - start) == options_.null_text;
    std::string_view text = scratch_from(scratch_start);
    if (made_byte && !null) validate_text(text);
    add(text, null, false);
    if (at == line.size()) return;
    ++at;
  }
}

void CopyFieldSplitter::split_csv(std::string_view line) {
  size_t at = 0;
  for (;;) {
    size_t scratch_start = scratch_.size();
    bool quoted = false;
    bool in_quotes = false;
    for (; at < line.size(); ++at) {
      char byte = line[at];
      if (!in_quotes) {
        if (byte == options_.delimiter) break;
        if (byte == options_.quote) {
          quoted = in_quotes = true;
        } else {
          scratch_.append(byte);
        }
        continue;
      }
      if (byte == options_.escape && at + 1 < line.size() &&
          (line[at + 1] == options_.escape || line[at + 1] == options_.quote)) {
        scratch_.append(line[++at]);
      } else if (byte == options_.quote) {
        in_quotes = false;
      } else {
        scratch_.append(byte);
      }
    }
    if (in_quotes) throw SqlError(sqlstate::bad_copy_file_format, "unterminated CSV quoted field");
    std::string_view text = scratch_from(scratch_start);
    bool is_null_text = text == options_.null_text;
    add(text, !quoted && is_null_text, quoted && is_null_text);
    if (at == line.size()) return;
    ++at;
  }
}

}  // namespace pgsilo
