#include "executor/functions/regular_expression.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

#include "base/arena.h"
#include "base/long_work.h"
#include "base/memory_budget.h"
#include "sql/sql_error.h"
#include "sql/types/scan.h"
#include "sql/types/text.h"

namespace pgsilo {
namespace {

// A pattern that backtracks more than this in one attempt is refused rather than let run for ever,
// and so is one that needs more memory for the way back.
constexpr uint32_t match_limit = 10'000'000;
constexpr uint32_t heap_limit_kb = 1 << 20;
// PCRE2 compiles to 64 kB at most; a class may be longer as a text.
constexpr size_t longest_pattern = size_t{256} << 10;

// So many steps, each of which may look through so many bytes, take a fraction of a millisecond.
uint32_t steps_in_one_piece(size_t step_bytes) {
  constexpr size_t most = 10'000;
  constexpr size_t bytes = size_t{10} << 20;
  return static_cast<uint32_t>(std::min(most, bytes / step_bytes));
}

[[noreturn]] void throw_invalid(int code) {
  unsigned char message[256];
  pcre2_get_error_message(code, message, sizeof message);
  throw SqlError(sqlstate::invalid_regular_expression,
                 concat("invalid regular expression: ", reinterpret_cast<const char*>(message)));
}

[[noreturn]] void throw_too_complex() {
  throw SqlError(sqlstate::invalid_regular_expression,
                 "invalid regular expression: regular expression is too complex");
}

// Follows a pattern into [...] and out of it.
class BracketExpressions {
 public:
  // Whether one holds the character at `i`; asked of each in turn that is not escaped.
  bool hold(std::string_view pattern, size_t i) {
    if (!open_) {
      open_ = pattern[i] == '[';
      first_ = pattern.substr(i + 1).starts_with('^') ? i + 2 : i + 1;
      return open_;
    }
    if (i < behind_named_) return true;
    // A bracket that comes first is a member.
    if (pattern[i] == ']') open_ = i == first_;
    if (pattern[i] != '[' || i + 1 == pattern.size()) return true;
    char kind = pattern[i + 1];  // [:space:], [.x.], [=x=]
    if (kind != ':' && kind != '.' && kind != '=') return true;
    const char end[] = {kind, ']'};
    size_t at = pattern.find(std::string_view(end, 2), i + 2);
    if (at != std::string_view::npos) behind_named_ = at + 2;
    return true;
  }

 private:
  bool open_ = false;
  size_t first_ = 0;
  size_t behind_named_ = 0;
};

// A brace with a digit behind it begins a repetition: {2}, {2,}, {2,5}, of 255 at most.
void check_repetition(std::string_view rest) {
  auto fail = [](const char* what) {
    throw SqlError(sqlstate::invalid_regular_expression,
                   concat("invalid regular expression: ", what));
  };
  size_t i = 0;
  auto take_count = [&] {
    int count = 0;
    for (; i < rest.size() && is_digit(rest[i]) && count < 256; ++i)
      count = count * 10 + (rest[i] - '0');
    return count;
  };
  int least = take_count();
  int most = least;
  if (i < rest.size() && rest[i] == ',') {
    ++i;
    if (i < rest.size() && rest[i] != '}') most = take_count();
  }
  if (i == rest.size()) fail("braces {} not balanced");
  if (rest[i] != '}' || most > 255 || least > most) fail("invalid repetition count(s)");
}

// What PostgreSQL spells differently: \m, \M (start and end of a word), \y (either), \Y (neither),
// \b (a backspace), \B (a backslash), a brace without a digit behind it, which stands for itself;
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
  BracketExpressions brackets;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '\\' || i + 1 == pattern.size()) {
      if (!brackets.hold(pattern, i) && pattern[i] == '{') {
        bool repeats = i + 1 < pattern.size() && is_digit(pattern[i + 1]);
        if (repeats) check_repetition(pattern.substr(i + 1));
        if (!repeats) result += '\\';
      }
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
      case 'b':
        result += "\\x08";
        break;
      case 'B':
        result += "\\\\";
        break;
      default:
        (result += '\\') += pattern[i];
    }
  }
  return result;
}

// One character of a SIMILAR TO pattern, outside of classes and escapes.
void append_similar(char c, AskingString& result) {
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
  // Where it gives way: before each attempt to match, or before each item of the pattern as well.
  enum class Callouts : uint8_t { attempts, items };

  std::string pattern;
  uint32_t options;
  Callouts callouts = Callouts::attempts;
  bool in_one_piece = true;  // until an attempt has turned out to be long
  pcre2_general_context* memory = nullptr;
  pcre2_code* code = nullptr;
  pcre2_match_data* match = nullptr;
  pcre2_match_context* context = nullptr;
  size_t step_bytes = 1;
  WorkMeter meter;
  std::exception_ptr ended;  // what a pause threw

  Impl() : memory(pcre2_general_context_create(allocate, release, this)) {
    if (memory == nullptr) throw std::bad_alloc();
  }
  ~Impl() {
    free();
    pcre2_general_context_free(memory);
  }
  void free() {
    pcre2_match_context_free(std::exchange(context, nullptr));
    pcre2_match_data_free(std::exchange(match, nullptr));
    pcre2_code_free(std::exchange(code, nullptr));
  }
  int compile();  // 0: done
  void prepare(uint32_t limit);
  void expect_long_attempts();
  int search(std::string_view text, size_t start) {
    return pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), start,
                       PCRE2_NO_UTF_CHECK, match, context);
  }

  // What the library calls; a pause in there must not throw through it.
  template <typename Work>
  bool pauses(Work&& work) {
    try {
      work();
      return true;
    } catch (...) {
      ended = std::current_exception();
      return false;
    }
  }
  static int count_work(pcre2_callout_block*, void* self);
  static void* allocate(size_t bytes, void* self);
  static void release(void* memory, void*) { std::free(memory); }
};

int RegularExpression::Impl::count_work(pcre2_callout_block*, void* self) {
  Impl& impl = *static_cast<Impl*>(self);
  size_t least = WorkMeter::block / (impl.callouts == Callouts::items ? 128 : 8);
  size_t cost = std::clamp(impl.step_bytes / 8, least, WorkMeter::block);
  return impl.pauses([&] { impl.meter.did(cost); }) ? 0 : PCRE2_ERROR_CALLOUT;
}

// The way back may take as much as a value. New pages take time as well.
void* RegularExpression::Impl::allocate(size_t bytes, void* self) {
  bool is_long = bytes > Arena::free_block_bytes;
  if (is_long && !memory_admits(bytes)) return nullptr;
  void* made = std::malloc(bytes);
  if (!is_long || made == nullptr) return made;
  auto touch = [&] { fill_value(static_cast<char*>(made), 0, bytes); };
  if (static_cast<Impl*>(self)->pauses(touch)) return made;
  std::free(made);
  return nullptr;
}

int RegularExpression::Impl::compile() {
  int error = 0;
  size_t offset;
  code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                       options | (callouts == Callouts::items ? PCRE2_AUTO_CALLOUT : 0), &error,
                       &offset, nullptr);
  return code == nullptr ? error : 0;
}

void RegularExpression::Impl::prepare(uint32_t limit) {
  match = pcre2_match_data_create_from_pattern(code, memory);
  context = pcre2_match_context_create(memory);
  if (match == nullptr || context == nullptr) throw std::bad_alloc();
  pcre2_set_match_limit(context, limit);
  pcre2_set_heap_limit(context, heap_limit_kb);
  pcre2_set_callout(context, count_work, this);
}

// Gives way in there from now on, which costs a pattern that backtracks half as much again and
// more. Where the pattern is too long to have callouts everywhere the attempt has a closer limit
// instead, which leaves room to try each of many alternatives.
void RegularExpression::Impl::expect_long_attempts() {
  constexpr uint32_t alternatives = 20'000;
  free();
  in_one_piece = false;
  callouts = Callouts::items;
  if (compile() == 0) return prepare(match_limit);
  callouts = Callouts::attempts;
  if (int error = compile(); error != 0) throw_invalid(error);
  prepare(std::max(alternatives, 100 * steps_in_one_piece(step_bytes)));
}

RegularExpression::RegularExpression(std::string_view pattern, bool ignore_case, size_t text_bytes)
    : impl_(new Impl) {
  // In a short text not much can be tried.
  constexpr size_t short_text = 64;
  if (pattern.size() > longest_pattern) throw_too_complex();
  impl_->pattern = translated(pattern);
  if (text_bytes > short_text) impl_->pattern.insert(0, "(?C)");
  // A dot matches line ends and $ only the very end, as PostgreSQL's default (newline-insensitive)
  // has it.
  impl_->options = PCRE2_UTF | PCRE2_UCP | PCRE2_NO_UTF_CHECK | PCRE2_DOTALL |
                   PCRE2_DOLLAR_ENDONLY | (ignore_case ? PCRE2_CASELESS : 0);
  if (int error = impl_->compile(); error != 0) throw_invalid(error);
  size_t frame_bytes = 0;
  pcre2_pattern_info(impl_->code, PCRE2_INFO_FRAMESIZE, &frame_bytes);
  impl_->step_bytes = std::max(text_bytes, frame_bytes);
  impl_->prepare(steps_in_one_piece(impl_->step_bytes));
}

RegularExpression::~RegularExpression() = default;

bool RegularExpression::search(std::string_view text, size_t start) {
  int result = impl_->search(text, start);
  if (result == PCRE2_ERROR_MATCHLIMIT && impl_->in_one_piece) {
    impl_->expect_long_attempts();
    result = impl_->search(text, start);
  }
  if (result == PCRE2_ERROR_NOMATCH) return false;
  if (impl_->ended != nullptr)
    std::rethrow_exception(std::exchange(impl_->ended, std::exception_ptr()));
  if (result == PCRE2_ERROR_NOMEMORY) throw std::bad_alloc();
  if (result < 0) throw_invalid(result);
  return true;
}

RegularExpression::Range RegularExpression::group(size_t index) const {
  const size_t* offsets = pcre2_get_ovector_pointer(impl_->match);
  return {offsets[2 * index], offsets[2 * index + 1]};
}

size_t RegularExpression::group_count() const { return pcre2_get_ovector_count(impl_->match) - 1; }

AskingString similar_to_regular_expression(std::string_view pattern, std::string_view escape) {
  if (text_length(escape) > 1) {
    throw SqlError(sqlstate::invalid_escape_sequence, "invalid escape string")
        .hint("Escape string must be empty or one character.");
  }
  AskingString result = "^(?:";
  bool in_class = false;
  int separators = 0;
  WorkMeter meter;
  for (size_t i = 0; i < pattern.size(); ++i) {
    meter.did(16);
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
