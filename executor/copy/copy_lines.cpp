#include "executor/copy/copy_lines.h"

#include <cstring>

#include "executor/execution_context.h"
#include "sql/sql_error.h"

namespace pgsilo {

CopyLines::CopyLines(CopySource& source, const CopyOptions& options)
    : source_(source),
      csv_(options.csv),
      quote_(options.quote),
      escape_(options.escape == options.quote ? '\0' : options.escape) {}

bool CopyLines::extend() {
  if (stream_ended_) return false;
  if (!rest_.empty()) {
    // What is left moves to the front of our own memory, and the next piece behind it.
    if (carried_) {
      std::memmove(carry_.data(), rest_.data(), rest_.size());
      carry_.truncate(rest_.size());
    } else {
      carry_.clear();
      carry_.append(rest_);
      carried_ = true;
    }
  } else {
    carried_ = false;
  }
  std::string_view piece;
  bool more;
  do {
    more = source_.read(&piece);
  } while (more && piece.empty());
  stream_ended_ = !more;
  if (!carried_) {
    rest_ = more ? piece : std::string_view();
    return more;
  }
  if (more) carry_.append(piece);
  rest_ = carry_.view();
  return more;
}

bool CopyLines::next(std::string_view* line) {
  number_ += quoted_line_ends_;
  quoted_line_ends_ = 0;
  scanned_ = 0;
  in_quotes_ = after_escape_ = false;
  size_t end;
  while ((end = find_end()) == none && extend()) {
  }
  if (end == none) {
    // The last line may lack its end.
    if (rest_.empty()) return false;
    end = find_end();
  }
  ++number_;
  if (end == none) {
    *line = rest_;
    rest_ = {};
  } else {
    *line = rest_.substr(0, end);
    rest_.remove_prefix(end + (line_end_ == LineEnd::both ? 2 : 1));
  }
  if (*line == "\\.") {
    std::string_view ignored;
    while (!stream_ended_) stream_ended_ = !source_.read(&ignored);
    rest_ = {};
    return false;
  }
  return true;
}

size_t CopyLines::find_end() { return csv_ ? find_csv_end() : find_text_end(); }

void CopyLines::raise_literal(char byte) const {
  bool carriage_return = byte == '\r';
  std::string_view word = carriage_return ? "carriage return" : "newline";
  if (csv_) {
    throw SqlError(sqlstate::bad_copy_file_format, concat("unquoted ", word, " found in data"))
        .hint(concat("Use quoted CSV field to represent ", word, "."));
  }
  throw SqlError(sqlstate::bad_copy_file_format, concat("literal ", word, " found in data"))
      .hint(concat("Use \"", carriage_return ? "\\r" : "\\n", "\" to represent ", word, "."));
}

bool CopyLines::ends_line(size_t at, bool* wait) {
  char byte = rest_[at];
  if (byte == '\n') {
    if (line_end_ == LineEnd::unknown) line_end_ = LineEnd::newline;
    if (line_end_ != LineEnd::newline) raise_literal(byte);
    return true;
  }
  if (line_end_ == LineEnd::newline) raise_literal(byte);
  if (line_end_ == LineEnd::carriage_return) return true;
  if (at + 1 == rest_.size() && !stream_ended_) {
    *wait = true;
    return false;
  }
  bool both = at + 1 < rest_.size() && rest_[at + 1] == '\n';
  if (line_end_ == LineEnd::unknown) line_end_ = both ? LineEnd::both : LineEnd::carriage_return;
  if (line_end_ == LineEnd::both && !both) raise_literal(byte);
  return true;
}

size_t CopyLines::find_text_end() {
  const char* text = rest_.data();
  // Nearly all lines have neither a backslash nor a carriage return.
  if (line_end_ == LineEnd::newline && scanned_ == 0 && !rest_.empty()) {
    const auto* newline = static_cast<const char*>(std::memchr(text, '\n', rest_.size()));
    size_t limit = newline == nullptr ? rest_.size() : static_cast<size_t>(newline - text);
    if (std::memchr(text, '\\', limit) == nullptr && std::memchr(text, '\r', limit) == nullptr) {
      if (newline != nullptr) return limit;
      scanned_ = limit;
      return none;
    }
  }
  for (size_t at = scanned_; at < rest_.size(); ++at) {
    char byte = text[at];
    if (after_escape_) {
      after_escape_ = false;
    } else if (byte == '\n' || byte == '\r') {
      bool wait = false;
      if (ends_line(at, &wait)) return at;
      if (wait) return none;
    } else {
      after_escape_ = byte == '\\';
    }
    scanned_ = at + 1;
  }
  return none;
}

size_t CopyLines::find_csv_end() {
  for (size_t at = scanned_; at < rest_.size(); ++at) {
    char byte = rest_[at];
    if (in_quotes_) {
      if (byte == quote_ && !after_escape_) {
        in_quotes_ = false;
      } else if (byte == '\n') {
        ++quoted_line_ends_;
      }
      after_escape_ = byte == escape_ && !after_escape_ && escape_ != '\0';
    } else if (byte == quote_) {
      in_quotes_ = true;
      after_escape_ = false;
    } else if (byte == '\n' || byte == '\r') {
      bool wait = false;
      if (ends_line(at, &wait)) return at;
      if (wait) return none;
    }
    scanned_ = at + 1;
  }
  return none;
}

}  // namespace pgsilo
