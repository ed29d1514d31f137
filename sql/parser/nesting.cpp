#include "sql/parser/nesting.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sql/limits.h"
#include "sql/parser/lexer.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

enum class Role : uint8_t {
  none,
  deepens,
  between,
  chains,
  and_,
  separates,
  opens_case,
  closes_case
};

struct KeyWord {
  std::string_view word;
  Role role;
};

// Prefix, infix and postfix operators spelled as words; words between which expressions stand side
// by side.
constexpr KeyWord key_words[] = {
    {"at", Role::deepens},       {"any", Role::deepens},      {"all", Role::deepens},
    {"between", Role::between},  {"collate", Role::deepens},  {"ilike", Role::deepens},
    {"in", Role::deepens},       {"is", Role::deepens},       {"isnull", Role::deepens},
    {"like", Role::deepens},     {"not", Role::deepens},      {"notnull", Role::deepens},
    {"operator", Role::deepens}, {"overlaps", Role::deepens}, {"similar", Role::deepens},
    {"some", Role::deepens},     {"except", Role::chains},    {"intersect", Role::chains},
    {"join", Role::chains},      {"union", Role::chains},     {"and", Role::and_},
    {"or", Role::separates},     {"when", Role::separates},   {"then", Role::separates},
    {"else", Role::separates},   {"case", Role::opens_case},  {"end", Role::closes_case},
};

Role role_of(std::string_view word) {
  if (word.size() > 9) return Role::none;
  for (const KeyWord& key_word : key_words) {
    if (is_key_word(word, key_word.word)) return key_word.role;
  }
  return Role::none;
}

class NestingCheck {
 public:
  explicit NestingCheck(std::string_view sql) : lexer_(sql) { levels_.push_back({}); }

  void run() {
    bool after_dot = false;
    while (true) {
      Token token = lexer_.next();
      if (token.kind == TokenKind::end || token.kind == TokenKind::invalid) return;
      std::string_view text = lexer_.text(token);
      bool is_dot = false;
      if (token.kind == TokenKind::op) {
        deepen();
      } else if (token.kind == TokenKind::punctuation) {
        is_dot = text == ".";
        punctuation(text);
      } else if (token.kind == TokenKind::identifier && !after_dot) {
        word(role_of(text));
      }
      after_dot = is_dot;
    }
  }

 private:
  // An open parenthesis, bracket or CASE.
  struct Level {
    uint32_t depth_above = 0;   // of the levels around it
    uint32_t chains = 0;        // UNION, JOIN: never started anew
    uint32_t operators = 0;     // of the running expression
    uint32_t deepest = 0;       // among what is closed inside the running expression
    uint32_t deepest_done = 0;  // among earlier expressions of the level
    bool is_case = false;
    bool awaits_and = false;
    uint32_t own() const { return 1 + chains + operators; }
    uint32_t depth() const { return 1 + chains + std::max(deepest_done, operators + deepest); }
  };

  void word(Role role) {
    switch (role) {
      case Role::none:
        return;
      case Role::deepens:
        return deepen();
      case Role::between:
        levels_.back().awaits_and = true;
        return deepen();
      case Role::chains:
        ++levels_.back().chains;
        separate();
        return check();
      case Role::and_:
        // BETWEEN's own AND: what follows is its operand, as in `a BETWEEN b AND NOT c BETWEEN d
        // AND NOT ...`.
        if (!levels_.back().awaits_and) separate();
        levels_.back().awaits_and = false;
        return;
      case Role::separates:
        return separate();
      case Role::opens_case:
        return open(true);
      case Role::closes_case:
        if (levels_.back().is_case) close();
        return;
    }
  }

  void punctuation(std::string_view text) {
    switch (text.front()) {
      case '(':
      case '[':
        return open(false);
      case ')':
      case ']':
        // What a CASE left open is an error of syntax.
        while (levels_.back().is_case) close();
        if (levels_.size() > 1) close();
        return;
      case ',':
        return separate();
      case ';':
        if (levels_.size() == 1) levels_.back() = {};
        return;
      case ':':
        if (text == "::") deepen();
        return;
      default:
        return;
    }
  }

  void deepen() {
    ++levels_.back().operators;
    check();
  }

  void separate() {
    Level& level = levels_.back();
    level.deepest_done = std::max(level.deepest_done, level.operators + level.deepest);
    level.operators = 0;
    level.deepest = 0;
  }

  void open(bool is_case) {
    Level level;
    level.depth_above = levels_.back().depth_above + levels_.back().own();
    level.is_case = is_case;
    levels_.push_back(level);
    check();
  }

  void close() {
    uint32_t depth = levels_.back().depth();
    levels_.pop_back();
    levels_.back().deepest = std::max(levels_.back().deepest, depth);
  }

  void check() {
    const Level& level = levels_.back();
    if (level.depth_above + level.depth() > static_cast<uint32_t>(limits::max_nesting_depth)) {
      throw SqlError(sqlstate::statement_too_complex, "stack depth limit exceeded")
          .hint(
              "Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after "
              "ensuring the "
              "platform's stack depth limit is adequate.");
    }
  }

  Lexer lexer_;
  std::vector<Level> levels_;
};

}  // namespace

void check_nesting(std::string_view sql) {
  // Too short to nest too deep.
  if (sql.size() < static_cast<size_t>(limits::max_nesting_depth)) return;
  NestingCheck(sql).run();
}

}  // namespace pgsilo
