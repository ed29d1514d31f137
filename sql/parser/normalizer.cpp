#include "sql/parser/normalizer.h"

#include <array>
#include <charconv>

#include "sql/ast/constant.h"

namespace pgsilo {

namespace {

constexpr size_t max_text_bytes = 16384;
constexpr size_t max_literals = 256;

enum class WordRole : uint8_t {
  none,
  opens_operand,  // reserved; an operand must follow
  type,           // takes a precision in parentheses
  starts_region,  // literals of the clause stay
  ends_region,    // such a clause ends here
  as,
  distinct,
  on,
};

struct Word {
  std::string_view word;
  WordRole role;
};

// A word that is missing here makes literals stay, never go.
constexpr Word words[] = {
    {"as", WordRole::as},
    {"by", WordRole::starts_region},
    {"on", WordRole::on},
    {"or", WordRole::opens_operand},
    {"all", WordRole::opens_operand},
    {"and", WordRole::opens_operand},
    {"bit", WordRole::type},
    {"dec", WordRole::type},
    {"for", WordRole::ends_region},
    {"not", WordRole::opens_operand},
    {"char", WordRole::type},
    {"else", WordRole::opens_operand},
    {"from", WordRole::opens_operand},
    {"then", WordRole::opens_operand},
    {"time", WordRole::type},
    {"when", WordRole::opens_operand},
    {"fetch", WordRole::starts_region},
    {"float", WordRole::type},
    {"limit", WordRole::starts_region},
    {"nchar", WordRole::type},
    {"union", WordRole::ends_region},
    {"where", WordRole::opens_operand},
    {"except", WordRole::ends_region},
    {"bpchar", WordRole::type},
    {"having", WordRole::ends_region},
    {"timetz", WordRole::type},
    {"varbit", WordRole::type},
    {"offset", WordRole::starts_region},
    {"select", WordRole::opens_operand},
    {"between", WordRole::opens_operand},
    {"decimal", WordRole::type},
    {"numeric", WordRole::type},
    {"varchar", WordRole::type},
    {"varying", WordRole::type},
    {"distinct", WordRole::distinct},
    {"interval", WordRole::type},
    {"character", WordRole::type},
    {"intersect", WordRole::ends_region},
    {"localtime", WordRole::type},
    {"returning", WordRole::ends_region},
    {"timestamp", WordRole::type},
    {"timestamptz", WordRole::type},
    {"current_time", WordRole::type},
    {"localtimestamp", WordRole::type},
    {"current_timestamp", WordRole::type},
};

// The words by first letter: where those of each begin, so that most names cost one look.
struct WordIndex {
  static constexpr size_t letters = 26;
  std::array<uint8_t, letters + 1> start{};
  std::array<Word, std::size(words)> sorted{};
};

constexpr WordIndex index_words() {
  WordIndex index;
  uint8_t count = 0;
  for (size_t letter = 0; letter < WordIndex::letters; ++letter) {
    index.start[letter] = count;
    for (const Word& word : words) {
      if (static_cast<size_t>(word.word[0] - 'a') == letter) index.sorted[count++] = word;
    }
  }
  index.start[WordIndex::letters] = count;
  return index;
}
constexpr WordIndex word_index = index_words();

WordRole role_of(std::string_view word) {
  auto letter = static_cast<size_t>(static_cast<unsigned char>((word[0] | 0x20) - 'a'));
  if (letter >= WordIndex::letters) return WordRole::none;
  for (size_t i = word_index.start[letter]; i < word_index.start[letter + 1]; ++i) {
    const Word& candidate = word_index.sorted[i];
    if (is_key_word(word, candidate.word)) return candidate.role;
  }
  return WordRole::none;
}

bool begins_statement(std::string_view word) {
  constexpr std::string_view known[] = {"select", "insert", "update", "delete", "values", "with"};
  for (std::string_view one : known) {
    if (is_key_word(word, one)) return true;
  }
  return false;
}

bool is_opening(std::string_view punctuation) {
  // ')' and ']' end an operand, '.' goes on with one; all else wants one.
  return punctuation != ")" && punctuation != "]" && punctuation != ".";
}

}  // namespace

void Normalizer::reset(std::string_view sql) {
  sql_ = sql;
  arena_.reset();
  text_.clear();
  literals_.clear();
  types_.clear();
  copied_ = 0;
  depth_ = 0;
  kept_depth_ = region_depth_ = -1;
  in_type_ = after_distinct_ = distinct_on_ = after_minus_ = false;
  type_words_ = 0;
  before_ = Before::operand;
  sign_at_ = -1;
}

bool Normalizer::normalize(std::string_view sql) {
  if (sql.size() > max_text_bytes) return false;
  reset(sql);
  Lexer lexer(sql);
  bool first = true;
  bool after_dot = false;
  while (true) {
    const Token token = lexer.next();
    if (token.kind == TokenKind::end) break;
    std::string_view text = lexer.text(token);
    if (first && (token.kind != TokenKind::identifier || !begins_statement(text))) return false;
    first = false;
    if (text == ";") {
      // Blanks and comments may follow, no second statement.
      if (lexer.next().kind != TokenKind::end) return false;
      break;
    }
    if (after_dot && token.kind == TokenKind::identifier) {
      // A column may have any name.
      before_ = Before::operand;
    } else if (!take(token)) {
      return false;
    }
    after_dot = text == ".";
  }
  if (literals_.empty()) return false;
  text_.append(sql_.substr(copied_));
  return true;
}

bool Normalizer::take(const Token& token) {
  std::string_view text = sql_.substr(token.start, token.end - token.start);
  bool was_type = in_type_;
  int64_t sign_at = sign_at_;
  bool after_minus = after_minus_;
  in_type_ = false;
  sign_at_ = -1;
  after_minus_ = false;
  switch (token.kind) {
    case TokenKind::identifier:
    case TokenKind::quoted_identifier:
      in_type_ = was_type;
      if (was_type) ++type_words_;
      if (token.kind == TokenKind::identifier) {
        take_word(text);
      } else {
        before_ = Before::operand;
      }
      return true;
    case TokenKind::punctuation:
      take_punctuation(text, was_type);
      return true;
    case TokenKind::op:
      after_minus_ = text == "-";
      if (after_minus_ && before_ == Before::opening) sign_at_ = token.start;
      before_ = Before::opening;
      return true;
    case TokenKind::integer:
    case TokenKind::decimal:
      take_number(token, sign_at, after_minus);
      break;
    case TokenKind::string:
      take_string(token);
      break;
    case TokenKind::other_string:
      break;
    case TokenKind::end:
    case TokenKind::parameter:
    case TokenKind::invalid:
      return false;
  }
  before_ = Before::operand;
  return literals_.size() <= max_literals;
}

void Normalizer::take_word(std::string_view word) {
  WordRole role = role_of(word);
  bool after_distinct = after_distinct_;
  after_distinct_ = role == WordRole::distinct;
  before_ = Before::operand;
  switch (role) {
    case WordRole::none:
      break;
    case WordRole::opens_operand:
    case WordRole::distinct:
      before_ = Before::opening;
      break;
    case WordRole::type:
      before_ = Before::type_word;
      break;
    case WordRole::as:
      in_type_ = true;
      type_words_ = 0;
      break;
    case WordRole::on:
      before_ = Before::opening;
      distinct_on_ = after_distinct;
      break;
    case WordRole::starts_region:
      if (region_depth_ < 0) region_depth_ = depth_;
      break;
    case WordRole::ends_region:
      if (region_depth_ == depth_) region_depth_ = -1;
      break;
  }
}

void Normalizer::take_punctuation(std::string_view text, bool was_type) {
  bool opens = text == "(" || text == "[";
  if (opens) {
    bool of_type = (was_type && type_words_ > 0) || before_ == Before::type_word || distinct_on_;
    if (of_type && kept_depth_ < 0) kept_depth_ = depth_;
    ++depth_;
  } else if (text == ")" || text == "]") {
    --depth_;
    if (depth_ <= kept_depth_) kept_depth_ = -1;
    if (depth_ < region_depth_) region_depth_ = -1;
  } else if (text == "::") {
    in_type_ = true;
    type_words_ = 0;
  } else if (text == ".") {
    in_type_ = was_type;
  }
  distinct_on_ = false;
  before_ = is_opening(text) ? Before::opening : Before::operand;
}

// What binds more tightly than a sign, so that the sign is not part of the number; a comment may
// hide it.
bool Normalizer::may_be_bound_before_sign(uint32_t end) const {
  while (end < sql_.size() &&
         std::string_view(" \t\n\r\f").find(sql_[end]) != std::string_view::npos)
    ++end;
  if (end >= sql_.size()) return false;
  char c = sql_[end];
  char following = end + 1 < sql_.size() ? sql_[end + 1] : '\0';
  return c == '[' || c == '.' || (c == ':' && following == ':') || (c == '-' && following == '-') ||
         (c == '/' && following == '*');
}

void Normalizer::take_number(const Token& token, int64_t sign_at, bool after_minus) {
  if (keeps_literals()) return;
  std::string_view digits = sql_.substr(token.start, token.end - token.start);
  bool negative = sign_at >= 0 && !may_be_bound_before_sign(token.end);
  NormalizedLiteral literal;
  literal.position = negative ? static_cast<uint32_t>(sign_at) : token.start;
  ast::NumberValue value = ast::number_value(digits, negative);
  // The smallest integers are integers only with the sign inside; whether the grammar puts it there
  // is not known here.
  if (!negative && after_minus && ast::number_value(digits, /*negative=*/true).type != value.type)
    return;
  literal.type = value.type;
  literal.integer = value.integer;
  if (value.type == type_oid::numeric)
    literal.text = negative ? ast::signed_digits(arena_, digits, negative) : digits;
  replace(literal.position, token.end, literal);
}

void Normalizer::take_string(const Token& token) {
  if (keeps_literals() || before_ != Before::opening) return;
  NormalizedLiteral literal;
  literal.position = token.start;
  literal.text = Lexer(sql_).string_value(token, arena_);
  replace(token.start, token.end, literal);
}

void Normalizer::replace(uint32_t start, uint32_t end, const NormalizedLiteral& literal) {
  literals_.push_back(literal);
  types_.push_back(literal.type == type_oid::unknown ? invalid_oid : literal.type);
  text_.append(sql_.substr(copied_, start - copied_));
  // Blanks keep the parameter apart from words that stood next to the literal.
  text_.append(" $");
  char number[8];
  auto printed = std::to_chars(number, number + sizeof number, literals_.size());
  text_.append(number, printed.ptr);
  text_.push_back(' ');
  copied_ = end;
}

}  // namespace pgsilo
