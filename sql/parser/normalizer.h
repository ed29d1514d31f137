// Turns the literals of a statement's text into parameters, so that texts that differ only in them
// share one plan: the way into the plan cache for simple-protocol texts. It works on tokens alone,
// for it must cost about a microsecond where a parse and a plan cost twenty.
//
// What makes that safe
// - It only parameterises where a parameter means the same as the literal. When in doubt a literal
// stays in the text, and so in
//   the cache's key: after ORDER BY, GROUP BY, LIMIT, OFFSET, FETCH, DISTINCT ON; modifiers of
//   types; typed literals (date '...'); patterns of LIKE (the planner looks into them); E'', U&'',
//   B'', X'', $$ and continued strings; NULL, TRUE, FALSE.
// - Numbers have PostgreSQL's types (int4, int8, numeric by size and form; a sign is part of the
// number where its
//   grammar makes it so), which belong to the key as the parameters' declared types. Strings have
//   type unknown: the parameter's type is inferred as the literal's would be.
// - The caller plans and runs the original text first. Only if the normalised text then plans with
// the same result types is it
//   cached; and when a string does not convert to its parameter's type, the original text is run,
//   for its error and position.
//
// Thread safety: none; one owner, which reuses it. Nothing is allocated once it is warm.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "sql/parser/lexer.h"
#include "sql/types/type_oid.h"

namespace pgsilo {

// A literal that became parameter number (its index + 1).
struct NormalizedLiteral {
  // int4, int8: the value. numeric: `text` has its digits. unknown: `text` is the string's value.
  Oid type = type_oid::unknown;
  int64_t integer = 0;
  std::string_view text;
  uint32_t position = 0;  // byte offset in the original text, of the sign if there is one
};

class Normalizer {
 public:
  // False: the text is to be run as it is (not one SELECT, VALUES, INSERT, UPDATE, DELETE or WITH;
  // has parameters of its own; has nothing to replace; is very long). True: text(), literals() and
  // types() are valid until the next call, and as long as `sql` is.
  bool normalize(std::string_view sql);

  std::string_view text() const { return text_; }
  std::span<const NormalizedLiteral> literals() const { return literals_; }
  // Of the parameters, as declared: 0 for unknown.
  std::span<const Oid> types() const { return types_; }

 private:
  // What the token before the present one was, as far as it matters here.
  enum class Before : uint8_t {
    operand,   // the end of an operand, or a word that is not known to want one behind it
    opening,   // an operator, comma, opening bracket or reserved word: an operand must follow
    type_word  // a word that takes a precision in parentheses
  };

  bool take(const Token& token);
  void take_word(std::string_view word);
  void take_punctuation(std::string_view text, bool was_type);
  void take_number(const Token& token, int64_t sign_at, bool after_minus);
  void take_string(const Token& token);
  bool keeps_literals() const { return kept_depth_ >= 0 || region_depth_ >= 0; }
  bool may_be_bound_before_sign(uint32_t end) const;
  void replace(uint32_t start, uint32_t end, const NormalizedLiteral& literal);
  void reset(std::string_view sql);

  std::string_view sql_;
  Arena arena_;
  std::string text_;
  std::vector<NormalizedLiteral> literals_;
  std::vector<Oid> types_;

  uint32_t copied_ = 0;        // up to here the text is in text_
  int32_t depth_ = 0;          // of open parentheses and brackets
  int32_t kept_depth_ = -1;    // literals stay until the depth is back at this one; -1: no
  int32_t region_depth_ = -1;  // literals stay until the clause at this depth ends; -1: no
  bool in_type_ = false;       // behind :: or AS: what stands in parentheses next belongs to a type
  uint32_t type_words_ = 0;    // names read since
  bool after_distinct_ = false;
  bool distinct_on_ = false;
  Before before_ = Before::operand;
  bool after_minus_ = false;
  int64_t sign_at_ = -1;  // of a minus sign that may belong to the number behind it, or -1
};

}  // namespace pgsilo
