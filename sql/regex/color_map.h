// Colors: characters that no set of a pattern tells apart are of one color, so that automata step
// by few symbols whatever Unicode has. Thread safety: constant once made.
#pragma once

#include <array>
#include <cstdint>

#include "base/asking_allocator.h"
#include "sql/regex/code_set.h"

namespace pgsilo::regex {

using Color = uint16_t;

class ColorMap {
 public:
  // Colors for `sets`, each normal. Throws "too many colors".
  void make(const AskingVector<CodeSet>& sets);

  size_t count() const { return count_; }
  Color of_ascii(unsigned char byte) const { return ascii_[byte]; }
  Color of(uint32_t code) const {
    if (code < 0x80) return ascii_[code];
    // Beyond ASCII most patterns have one interval.
    if (code >= last_start_) return last_color_;
    return search(code);
  }
  // Sorted, without repetition. `set` is one of those that the map was made for.
  AskingVector<Color> colors_of(const CodeSet& set) const;

 private:
  Color search(uint32_t code) const;

  AskingVector<uint32_t> starts_;  // of intervals
  AskingVector<Color> colors_;
  std::array<Color, 0x80> ascii_{};
  size_t count_ = 0;
  uint32_t last_start_ = 0;
  Color last_color_ = 0;
};

}  // namespace pgsilo::regex
