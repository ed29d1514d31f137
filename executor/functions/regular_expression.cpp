#include "executor/functions/regular_expression.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <exception>
#include <utility>

#include "base/long_work.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"

namespace pgsilo {
namespace {

// A pattern that backtracks more than this is refused rather than let run for ever.
constexpr uint32_t match_limit = 10'000'000;

[[noreturn]] void throw_invalid(int code) {
  unsigned char message[256];
  pcre2_get_error_message(code, message, sizeof message);
  throw SqlError(sqlstate::invalid_regular_expression,
                 concat("invalid regular expression: ", reinterpret_cast<const char*>(message)));
}

// What PostgreSQL spells differently: \m, \M (start and end of a word), \y (either), \Y (neither),
// \Z is the same.
std::string translated(std::string_view pattern) {
  std::string result;
  if (pattern.starts_with("***:")) pattern.remove_prefix(4);
  // Where PCRE2 knows verbs.
  if (pattern.starts_with("(*")) {
    throw SqlError(sqlstate::invalid_regular_expression,
                   "invalid regular expression: quantifier operand invalid");
  }
  if (pattern.starts_with("***=")) return "\\Q" + std::string(pattern.substr(4)) + "\\E";
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '\\' || i + 1 == pattern.size()) {
      result += pattern[i];
      continue;
    }
    switch (pattern[++i]) {
      case 'm':
        result += "\\b(?=\\w)";
        break;
      case 'M':
        result += "\\b(?<=\\w)";
        break;
      case 'y':
        result += "\\b";
        break;
      case 'Y':
        result += "\\B";
        break;
      default:
        (result += '\\') += pattern[i];
    }
  }
  return result;
}

// One character of a SIMILAR TO pattern, outside of classes and escapes.
void append_similar(char c, std::string& result) {
  switch (c) {
    case '%':
      result += ".*";
      break;
    case '_':
      result += '.';
      break;
    case '(':
      result += "(?:";
      break;
    case '\\':
    case '.':
    case '^':
    case '$':
      (result += '\\') += c;
      break;
    default:
      result += c;
  }
}

}  // namespace

struct RegularExpression::Impl {
  pcre2_code* code = nullptr;
  pcre2_match_data* match = nullptr;
  pcre2_match_context* context = nullptr;
  WorkMeter meter;
  std::exception_ptr ended;  // what a pause threw
  ~Impl() {
    pcre2_match_context_free(context);
    pcre2_match_data_free(match);
    pcre2_code_free(code);
  }
};

namespace {
// Called where a match is tried, by the callout that stands before the pattern.
template <typename Impl>
int count_attempt(pcre2_callout_block*, void* searching) {
  constexpr size_t cost = WorkMeter::block / 8;
  Impl& impl = *static_cast<Impl*>(searching);
  try {
    impl.meter.did(cost);
    return 0;
  } catch (...) {
    impl.ended = std::current_exception();
    return PCRE2_ERROR_CALLOUT;
  }
}
}  // namespace

RegularExpression::RegularExpression(std::string_view pattern, bool ignore_case, size_t text_bytes)
    : impl_(new Impl) {
  // In a short text not much can be tried.
  constexpr size_t short_text = 64;
  std::string text = translated(pattern);
  if (text_bytes > short_text) text.insert(0, "(?C)");
  int error;
  size_t offset;
  // A dot matches line ends and $ only the very end, as PostgreSQL's default (newline-insensitive)
  // has it.
  uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NO_UTF_CHECK | PCRE2_DOTALL |
                     PCRE2_DOLLAR_ENDONLY | (ignore_case ? PCRE2_CASELESS : 0);
  impl_->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), options,
                              &error, &offset, nullptr);
  if (impl_->code == nullptr) throw_invalid(error);
  impl_->match = pcre2_match_data_create_from_pattern(impl_->code, nullptr);
  impl_->context = pcre2_match_context_create(nullptr);
  if (impl_->match == nullptr || impl_->context == nullptr) throw std::bad_alloc();
  pcre2_set_match_limit(impl_->context, match_limit);
  pcre2_set_callout(impl_->context, count_attempt<Impl>, impl_.get());
}

RegularExpression::~RegularExpression() = default;

bool RegularExpression::search(std::string_view text, size_t start) {
  int result = pcre2_match(impl_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                           start, PCRE2_NO_UTF_CHECK, impl_->match, impl_->context);
  if (result == PCRE2_ERROR_NOMATCH) return false;
  if (result == PCRE2_ERROR_CALLOUT)
    std::rethrow_exception(std::exchange(impl_->ended, std::exception_ptr()));
  if (result < 0) throw_invalid(result);
  return true;
}

RegularExpression::Range RegularExpression::group(size_t index) const {
  const size_t* offsets = pcre2_get_ovector_pointer(impl_->match);
  return {offsets[2 * index], offsets[2 * index + 1]};
}

size_t RegularExpression::group_count() const { return pcre2_get_ovector_count(impl_->match) - 1; }

std::string similar_to_regular_expression(std::string_view pattern, std::string_view escape) {
  if (text_length(escape) > 1) {
    throw SqlError(sqlstate::invalid_escape_sequence, "invalid escape string")
        .hint("Escape string must be empty or one character.");
  }
  std::string result = "^(?:";
  bool in_class = false;
  int separators = 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    char c = pattern[i];
    if (!escape.empty() && pattern.substr(i).starts_with(escape)) {
      i += escape.size();
      if (i >= pattern.size()) {
        throw SqlError(sqlstate::invalid_escape_sequence, "invalid escape string");
      }
      // Escape and a double quote cut the pattern in three, of which substring() returns the
      // second.
      if (pattern[i] == '"' && !in_class) {
        if (separators++ == 0) {
          result += "){1,1}?(";
        } else {
          result += "){1,1}(?:";
        }
        continue;
      }
      (result += '\\') += pattern[i];
      continue;
    }
    if (in_class) {
      if (c == '\\') result += '\\';
      result += c;
      in_class = c != ']';
      continue;
    }
    switch (c) {
      case '[':
        in_class = true;
        result += c;
        // A bracket or a caret and bracket at the start of a class are members of it.
        if (i + 1 < pattern.size() && pattern[i + 1] == '^') result += pattern[++i];
        if (i + 1 < pattern.size() && pattern[i + 1] == ']') result += pattern[++i];
        break;
      default:
        append_similar(c, result);
    }
  }
  return result + ")$";
}

}  // namespace pgsilo
