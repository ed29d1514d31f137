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
  backslash_.forget();
  carriage_return_.forget();
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
  in_quotes_ = after_escape_ = plain_ = false;
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
    return true;
  }
  if (copy_ends_) return end_copy(end, line);
  *line = rest_.substr(0, end);
  rest_.remove_prefix(end + (line_end_ == LineEnd::both ? 2 : 1));
  return true;
}

bool CopyLines::end_copy(size_t end, std::string_view* line) {
  last_.assign(rest_.substr(0, end));  // the source's piece goes
  std::string_view ignored;
  while (!stream_ended_) stream_ended_ = !source_.read(&ignored);
  rest_ = {};
  *line = last_;
  return !last_.empty();
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

CopyLines::Marker CopyLines::judge_marker(size_t at) const {
  bool both = line_end_ == LineEnd::both;
  if (at + (both ? 2 : 1) > rest_.size() && !stream_ended_) return Marker::is_cut;
  auto byte_at = [this](size_t place) { return place < rest_.size() ? rest_[place] : '\0'; };
  char byte = byte_at(at);
  auto mismatch = [] {
    return SqlError(sqlstate::bad_copy_file_format,
                    "end-of-copy marker does not match previous newline style");
  };
  if (both && byte == '\n' && !csv_) throw mismatch();
  if (both && byte == '\r') {
    byte = byte_at(at + 1);
  } else if (both) {
    byte = '\0';
  }
  if (byte != '\r' && byte != '\n') {
    if (csv_) return Marker::data;
    throw SqlError(sqlstate::bad_copy_file_format, "end-of-copy marker corrupt");
  }
  char expected = line_end_ == LineEnd::carriage_return ? '\r' : '\n';
  if (line_end_ != LineEnd::unknown && byte != expected) throw mismatch();
  return Marker::ends_copy;
}

size_t CopyLines::find_text_end() {
  const char* text = rest_.data();
  // Nearly all lines have neither a backslash nor a carriage return.
  if (line_end_ == LineEnd::newline && scanned_ == 0 && !rest_.empty()) {
    const auto* newline = static_cast<const char*>(std::memchr(text, '\n', rest_.size()));
    size_t limit = newline == nullptr ? rest_.size() : static_cast<size_t>(newline - text);
    if (backslash_.in(rest_) >= text + limit && carriage_return_.in(rest_) >= text + limit) {
      plain_ = newline != nullptr;
      if (plain_) return limit;
      scanned_ = limit;
      return none;
    }
  }
  for (size_t at = scanned_; at < rest_.size(); ++at) {
    char byte = text[at];
    if (after_escape_) {
      if (byte == '.') {
        if (judge_marker(at + 1) == Marker::is_cut) return none;
        copy_ends_ = true;
        return at - 1;
      }
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
  if (scanned_ == 0 && rest_.starts_with('\\')) {
    if (rest_.size() == 1 && !stream_ended_) return none;
    if (rest_.starts_with("\\.")) {
      Marker marker = judge_marker(2);
      if (marker == Marker::is_cut) return none;
      copy_ends_ = marker == Marker::ends_copy;
      if (copy_ends_) return 0;
    }
  }
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
