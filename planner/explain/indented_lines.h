// The lines of a definition as PostgreSQL breaks them: a keyword that begins one takes the blanks
// off the line before. Texts are put together from their parts, so the break itself is a NUL, which
// no value holds, until the whole is there. Thread safety: none; one per text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace pgsilo {

class IndentedLines {
 public:
  // How deep what a clause of a query holds stands, and what a CASE does.
  static constexpr int clause = 8;
  static constexpr int step = 4;

  void indent() { level_ += step; }
  void outdent() { level_ -= step; }
  int level() const { return level_; }
  void set_level(int level) { level_ = level; }
  void add(int levels) { level_ += levels; }
  // `more`: blanks beyond the level.
  std::string begin(std::string_view keyword, int more = 0) const {
    std::string line(1, break_mark);
    // Deep ones come back to the left.
    int blanks = level_ < limit ? std::max(level_, 0) : (limit + (level_ - limit) / step) % limit;
    line.append(static_cast<size_t>(int64_t{blanks} + more), ' ');
    return line.append(keyword);
  }
  // With the level moved before and after; the left edge stops it.
  std::string begin(std::string_view keyword, int before, int after, int more) {
    level_ += before;
    std::string line = begin(keyword, more);
    level_ = std::max(level_ + after, 0);
    return line;
  }
  // A clause of a query, to the left of what it holds.
  std::string begin_clause(std::string_view keyword, int more = 0) {
    return begin(keyword, -clause, clause, more);
  }

  static constexpr char break_mark = '\0';
  // With its breaks as lines.
  static std::string finish(std::string_view text) {
    std::string whole;
    whole.reserve(text.size());
    for (char c : text) {
      if (c == break_mark) {
        whole.resize(whole.find_last_not_of(' ') + 1);
        whole += '\n';
      } else {
        whole += c;
      }
    }
    return whole;
  }

 private:
  static constexpr int limit = 40;
  int level_ = 0;
};

}  // namespace pgsilo
