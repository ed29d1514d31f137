// The lines of a definition as PostgreSQL breaks them: a keyword that begins one takes the blanks
// off the line before. Texts are put together from their parts, so the break itself is a NUL, which
// no value holds, until the whole is there. Thread safety: none; one per text.
#pragma once

#include <string>
#include <string_view>

namespace pgsilo {

class IndentedLines {
 public:
  void indent() { level_ += step; }
  void outdent() { level_ -= step; }
  std::string begin(std::string_view keyword) const {
    std::string line(1, '\0');
    // Deep ones come back to the left.
    size_t blanks = level_ < limit ? level_ : (limit + (level_ - limit) / step) % limit;
    line.append(blanks, ' ');
    return line.append(keyword);
  }
  // With its breaks as lines.
  static std::string finish(std::string_view text) {
    std::string whole;
    whole.reserve(text.size());
    for (char c : text) {
      if (c == '\0') {
        whole.resize(whole.find_last_not_of(' ') + 1);
        whole += '\n';
      } else {
        whole += c;
      }
    }
    return whole;
  }

 private:
  static constexpr size_t step = 4;
  static constexpr size_t limit = 40;
  size_t level_ = 0;
};

}  // namespace pgsilo
