// Cuts a line of COPY FROM into fields and undoes their escapes.
// Thread safety: none; one COPY.
#pragma once

#include <span>
#include <string_view>

#include "base/asking_allocator.h"
#include "base/byte_buffer.h"
#include "executor/copy/copy_options.h"

namespace pgsilo {

struct CopyField {
  std::string_view text;     // in the line, or in the splitter's memory; valid until the next line
  bool null = false;         // as the null text says, before FORCE_NULL and FORCE_NOT_NULL
  bool quoted_null = false;  // CSV: a quoted field whose value is the null text
};

class CopyFieldSplitter {
 public:
  explicit CopyFieldSplitter(const CopyOptions& options) : options_(options) {}

  // Throws 22P04 for a quoted field that does not end, 22021 for escapes that make invalid text.
  // `plain`: the line is known to have no backslash.
  std::span<const CopyField> split(std::string_view line, bool plain = false);

 private:
  void split_plain(std::string_view line);
  void split_text(std::string_view line);
  void split_csv(std::string_view line);
  size_t unescape(std::string_view line, size_t at, bool* made_high_byte);
  std::string_view scratch_from(size_t start) const { return scratch_.view().substr(start); }
  void add(std::string_view text, bool null, bool quoted_null) {
    if (count_ == fields_.size()) fields_.resize(2 * count_ + 16);
    fields_[count_++] = {text, null, quoted_null};
  }

  const CopyOptions& options_;
  AskingVector<CopyField> fields_;  // the first count_ are the line's: nothing is built per field
  size_t count_ = 0;
  ByteBuffer scratch_;  // never longer than the line, reserved before: views into it stay
};

}  // namespace pgsilo
