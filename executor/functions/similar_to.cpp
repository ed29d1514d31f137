// SQL's patterns as regular expressions.
#include "base/long_work.h"
#include "executor/functions/regular_expression.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"

namespace pgsilo {
namespace {

class SimilarPattern {
 public:
  void escaped(std::string_view character) {
    if (character == "\"" && !in_class_) return separator();
    (result_ += '\\') += character;
  }
  void plain(std::string_view character) {
    if (character.size() > 1) {
      result_ += character;
    } else if (in_class_) {
      if (character[0] == '\\') result_ += '\\';
      result_ += character;
      in_class_ = character[0] != ']';
    } else {
      outside_class(character[0]);
    }
  }
  AskingString whole() { return std::move(result_) + ")$"; }

 private:
  // Escape and a double quote cut the pattern in three, of which substring() returns the second.
  void separator() {
    static constexpr std::string_view separators[] = {"){1,1}?(", "){1,1}(?:"};
    if (separators_ == 2) {
      throw SqlError(sqlstate::invalid_use_of_escape_character,
                     "SQL regular expression may not contain more than two escape-double-quote "
                     "separators");
    }
    result_ += separators[separators_++];
  }
  void outside_class(char c) {
    switch (c) {
      case '%':
        result_ += ".*";
        break;
      case '_':
        result_ += '.';
        break;
      case '(':
        result_ += "(?:";
        break;
      case '[':
        in_class_ = true;
        result_ += c;
        break;
      case '\\':
      case '.':
      case '^':
      case '$':
        (result_ += '\\') += c;
        break;
      default:
        result_ += c;
    }
  }

  AskingString result_ = "^(?:";
  bool in_class_ = false;
  int separators_ = 0;
};

}  // namespace

AskingString similar_to_regular_expression(std::string_view pattern, std::string_view escape) {
  if (text_length(escape) > 1) {
    throw SqlError(sqlstate::invalid_escape_sequence, "invalid escape string")
        .hint("Escape string must be empty or one character.");
  }
  SimilarPattern result;
  bool is_escaped = false;
  WorkMeter meter;
  for (size_t i = 0; i < pattern.size();) {
    meter.did(16);
    std::string_view character = pattern.substr(i, text_prefix_bytes(pattern.substr(i), 1));
    i += character.size();
    if (is_escaped) {
      result.escaped(character);
      is_escaped = false;
    } else if (character == escape) {
      is_escaped = true;
    } else {
      result.plain(character);
    }
  }
  return result.whole();
}

}  // namespace pgsilo
