// Cuts the stream of COPY FROM into lines. A line that lies whole in one piece of the stream is not
// copied. Thread safety: none; one COPY.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/asking_allocator.h"
#include "base/byte_buffer.h"
#include "executor/copy/copy_options.h"

namespace pgsilo {

class CopySource;

class CopyLines {
 public:
  CopyLines(CopySource& source, const CopyOptions& options);

  // The next line without its end; false after the last. Valid until the next call. A line of CSV
  // may contain line ends inside quotes. The end-of-copy marker \. ends the data: in a text
  // wherever it stands, and what stands before it in its line is a line; in CSV as a line of its
  // own. What follows it is read and ignored. Throws 22P04 where line ends differ, or a text goes
  // on behind the marker.
  bool next(std::string_view* line);
  // Of the last line, from 1.
  uint64_t number() const { return number_; }
  // The last line is known to have no backslash.
  bool is_plain() const { return plain_; }

 private:
  static constexpr size_t none = SIZE_MAX;
  enum class LineEnd : uint8_t { unknown, newline, carriage_return, both };

  bool extend();
  size_t find_end();
  size_t find_text_end();
  size_t find_csv_end();
  bool end_copy(size_t end, std::string_view* line);
  // Judges an unquoted \n or \r at `at`: true when the line ends there; *wait when the next byte
  // decides and is not here yet.
  bool ends_line(size_t at, bool* wait);
  [[noreturn]] void raise_literal(char byte) const;
  // What stands behind a \. that ends before `at`; data: it is none (only in CSV).
  enum class Marker : uint8_t { is_cut, ends_copy, data };
  Marker judge_marker(size_t at) const;

  // Where the next byte of one value stands in what is unread: looked for once, not for each line
  // before it. forget() when the unread bytes have moved.
  class NextByte {
   public:
    explicit NextByte(char byte) : byte_(byte) {}
    // The first one in `text`, which begins at or behind that of the last call; its end: none.
    const char* in(std::string_view text) {
      if (at_ == nullptr || at_ < text.data()) {
        const void* found = std::memchr(text.data(), byte_, text.size());
        at_ = found == nullptr ? text.data() + text.size() : static_cast<const char*>(found);
      }
      return at_;
    }
    void forget() { at_ = nullptr; }

   private:
    const char byte_;
    const char* at_ = nullptr;
  };

  CopySource& source_;
  const bool csv_;
  const char quote_;
  const char escape_;      // NUL when it is the quote
  std::string_view rest_;  // unread: in the source's piece or in carry_
  ByteBuffer carry_;
  bool carried_ = false;
  bool stream_ended_ = false;
  LineEnd line_end_ = LineEnd::unknown;
  NextByte backslash_{'\\'};
  NextByte carriage_return_{'\r'};
  bool plain_ = false;
  // Progress in the line that begins rest_.
  size_t scanned_ = 0;
  bool in_quotes_ = false;
  bool after_escape_ = false;
  bool copy_ends_ = false;  // where it ends is the end-of-copy marker
  AskingString last_;       // what stood before that
  uint64_t number_ = 0;
  uint64_t quoted_line_ends_ = 0;
};

}  // namespace pgsilo
