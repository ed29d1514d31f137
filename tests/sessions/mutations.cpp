// Statements of tests/sql with words left out, doubled, swapped, or taken from another one.
#include <cctype>

#include "tests/sessions/sql_author.h"

namespace pgsilo::sessions {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  auto kind = [](char c) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) return 0;
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ? 1 : 2;
  };
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (text[at] == '\'') {
      end = text.find('\'', at + 1);
      end = end == std::string::npos ? text.size() : end + 1;
    } else {
      while (end < text.size() && kind(text[at]) != 2 && kind(text[end]) == kind(text[at])) ++end;
    }
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace

std::string SqlAuthor::mutated() {
  if (vocabulary_.corpus.empty()) return query(2);
  std::vector<std::string> words = words_of(any_of(random_, vocabulary_.corpus));
  std::vector<std::string> others = words_of(any_of(random_, vocabulary_.corpus));
  uint64_t changes = chance(20) ? 0 : 1 + random_.below(3);
  for (; changes > 0 && words.size() > 2; --changes) {
    auto place = [&] { return static_cast<std::ptrdiff_t>(random_.below(words.size())); };
    std::ptrdiff_t at = place();
    switch (random_.below(7)) {
      case 0:
        words.erase(words.begin() + at);
        break;
      case 1:
        words.insert(words.begin() + at, std::string(words[static_cast<size_t>(place())]));
        break;
      case 2:
        std::swap(words[static_cast<size_t>(at)], words[static_cast<size_t>(place())]);
        break;
      case 3:
        if (!others.empty()) words[static_cast<size_t>(at)] = any_of(random_, others);
        break;
      case 4:
        words.insert(words.begin() + at, " " + any_expression(1) + " ");
        break;
      case 5:
        words.resize(static_cast<size_t>(at) + 1);
        words.insert(words.end(), others.begin(), others.end());
        break;
      default:
        words[static_cast<size_t>(at)] = "(" + simple_query(1, 1) + ")";
    }
  }
  std::string text;
  for (const std::string& each : words) text += each;
  return text;
}

}  // namespace pgsilo::sessions
