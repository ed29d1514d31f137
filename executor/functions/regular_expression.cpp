#include "executor/functions/regular_expression.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/long_work.h"
#include "sql/sql_error.h"
#include "sql/types/array.h"
#include "sql/types/text.h"

namespace pgsilo {
namespace {

using regex::Options;
using regex::Syntax;

// What a thread keeps, the last used first.
class RegexCache {
 public:
  // Giving back must not fail: it happens in a destructor.
  RegexCache() { kept_.reserve(most_patterns); }
  bool take(std::string_view pattern, const Options& options, CachedRegex::Kept& to) {
    auto at = std::ranges::find_if(kept_, [&](const CachedRegex::Kept& kept) {
      return kept.pattern == pattern && kept.options == options;
    });
    if (at == kept_.end()) return false;
    to = std::move(*at);
    bytes_ -= to.bytes;
    kept_.erase(at);
    return true;
  }
  void give(CachedRegex::Kept kept) {
    // Whom an exception ended may live on until long after it was caught.
    kept.regex->drop_half_made();
    kept.bytes = kept.regex->bytes() + kept.pattern.size();
    if (kept.bytes > most_bytes_of_one) {
      kept.regex->shrink();
      kept.bytes = kept.regex->bytes() + kept.pattern.size();
    }
    if (kept.bytes > most_bytes_of_one) return;
    while (!kept_.empty() && (kept_.size() == most_patterns || bytes_ + kept.bytes > most_bytes)) {
      bytes_ -= kept_.back().bytes;
      kept_.pop_back();
    }
    bytes_ += kept.bytes;
    kept_.insert(kept_.begin(), std::move(kept));
  }

 private:
  static constexpr size_t most_patterns = 32;
  static constexpr size_t most_bytes = size_t{4} << 20;
  static constexpr size_t most_bytes_of_one = size_t{1} << 20;
  std::vector<CachedRegex::Kept> kept_;
  size_t bytes_ = 0;
};

// Asked anew by each call: a fiber may go on in another thread.
[[gnu::noinline]] RegexCache& thread_cache() {
  thread_local RegexCache cache;
  return cache;
}

void set_flag(char letter, RegexFlags& flags) {
  Options& options = flags.options;
  switch (letter) {
    case 'g':
      flags.global = true;
      break;
    // To PostgreSQL the flag `e` is what `b` is, other than (?e).
    case 'b':
    case 'e':
      options.syntax = Syntax::basic;
      break;
    case 'c':
    case 'i':
      options.ignore_case = letter == 'i';
      break;
    case 'm':
    case 'n':
    case 's':
      options.set_newline_sensitive(letter != 's');
      break;
    case 'p':
    case 'w':
      options.newline_ends_match = letter == 'p';
      options.newline_ends_line = letter == 'w';
      break;
    case 'q':
      options.syntax = Syntax::literal;
      break;
    case 't':
    case 'x':
      options.expanded = letter == 'x';
      break;
  }
}

}  // namespace

CachedRegex::CachedRegex(std::string_view pattern, Options options) {
  if (thread_cache().take(pattern, options, kept_)) return;
  kept_.regex = std::make_unique<regex::Regex>(pattern, options);
  kept_.pattern = pattern;
  kept_.options = options;
}

CachedRegex::~CachedRegex() { thread_cache().give(std::move(kept_)); }

RegexFlags parse_regex_flags(std::string_view flags) {
  static constexpr std::string_view letters = "gbceimnpqstwx";
  RegexFlags result;
  for (size_t i = 0; i < flags.size(); ++i) {
    if (letters.find(flags[i]) == std::string_view::npos) {
      std::string_view letter = flags.substr(i, text_prefix_bytes(flags.substr(i), 1));
      throw SqlError(sqlstate::invalid_parameter_value,
                     concat("invalid regular expression option: \"", letter, "\""));
    }
    set_flag(flags[i], result);
  }
  return result;
}

TextMatches::TextMatches(std::string_view text, std::string_view pattern, const Options& options,
                         Groups groups, int32_t start)
    : text_(text), regex_(pattern, options), matcher_(*regex_, text), groups_(groups), next_(0) {
  if (start == 0) return;
  next_ = text_prefix_bytes(text, start);
  if (next_ == text.size() && text_length(text) < start) next_ = text.size() + 1;
}

bool TextMatches::next() {
  if (next_ > text_.size() || !matcher_.find(next_, groups_)) return false;
  Range found = match();
  next_ = found.end;
  // An empty match moves on by one character, or it would be found again.
  if (found.begin == found.end)
    next_ += std::max<size_t>(1, text_prefix_bytes(text_.substr(next_), 1));
  return true;
}

bool TextMatches::next_that_splits() {
  for (;;) {
    size_t last_end = matcher_.group(0).is_set() ? match().end : 0;
    if (!next()) return false;
    if (match().begin < text_.size() && match().end > last_end) return true;
  }
}

Datum TextMatches::captures(Arena& arena) const {
  std::vector<Datum> values;
  if (group_count() == 0) values.push_back(value(match()));
  for (size_t i = 1; i <= group_count(); ++i) values.push_back(value(group(i)));
  return make_array(type_oid::text, values, arena);
}

}  // namespace pgsilo
