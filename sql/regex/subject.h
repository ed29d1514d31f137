// A text that a program runs over: its characters as colors, and what holds at its positions.
// Positions are of bytes. Thread safety: one owner.
#pragma once

#include <memory>
#include <string_view>

#include "base/asking_allocator.h"
#include "sql/regex/program.h"
#include "sql/types/text_characters.h"

namespace pgsilo::regex {

class Automata;

// A bit for each position of a range of a text, both ends included.
class PositionSet {
 public:
  void clear(size_t first, size_t last) {
    first_ = first;
    words_.assign((last - first) / 64 + 1, 0);
  }
  bool contains(size_t at) const {
    return (words_[(at - first_) / 64] >> (at - first_) % 64 & 1) != 0;
  }
  void add(size_t at) { words_[(at - first_) / 64] |= uint64_t{1} << (at - first_) % 64; }
  // The first at `at` or behind it, up to `last`; ~0: none.
  size_t next(size_t at, size_t last) const;
  // The last at `at` or before it.
  size_t previous(size_t at) const;

 private:
  size_t first_ = 0;
  AskingVector<uint64_t> words_;
};

// How much work what is mostly quick may take before what is slower, but bounded, takes its place:
// so many times the text's length.
struct Patience {
  size_t times = 4;
  size_t more = 4096;
  size_t limit(size_t length) const { return times * length + more; }
};

class Subject {
 public:
  Subject(const Program& program, Automata& automata, std::string_view text, Patience patience)
      : program_(program), automata_(automata), text_(text), patience_(patience) {}

  const Patience& patience() const { return patience_; }
  std::string_view text() const { return text_; }
  size_t size() const { return text_.size(); }
  // Of the character at `at`, which is moved behind it; there is one.
  Color take_next(size_t& at) const {
    auto first = static_cast<unsigned char>(text_[at]);
    if (first < 0x80) {
      ++at;
      return program_.colors.of_ascii(first);
    }
    size_t length = character_bytes(text_, at);
    at += length;
    return program_.colors.of(code_point(text_.substr(at - length, length)));
  }
  // Of the character before `at`, which is moved before it.
  Color take_previous(size_t& at) const {
    auto last = static_cast<unsigned char>(text_[at - 1]);
    if (last < 0x80) {
      --at;
      return program_.colors.of_ascii(last);
    }
    size_t end = at;
    at = previous_character(text_, at);
    return program_.colors.of(code_point(text_.substr(at, end - at)));
  }
  size_t behind(size_t at) const { return at + character_bytes(text_, at); }
  size_t before(size_t at) const { return previous_character(text_, at); }
  Neighbor neighbor(Color color) const {
    return program_.has_assertions ? program_.neighbor_of_color[color] : Neighbor::other;
  }

  // Whether a lookaround of the program holds at a position.
  bool holds(uint32_t lookaround, size_t at);

 private:
  struct Answers {
    size_t work = 0;  // spent on single answers
    bool complete = false;
    PositionSet matches;
  };
  bool matches_at(uint32_t lookaround, size_t at);
  void answer_all(uint32_t lookaround);

  const Program& program_;
  Automata& automata_;
  std::string_view text_;
  Patience patience_;
  AskingVector<Answers> answers_;  // by lookaround
};

}  // namespace pgsilo::regex
