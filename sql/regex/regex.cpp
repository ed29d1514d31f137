#include "sql/regex/regex.h"

#include "base/large_stack.h"
#include "sql/regex/regex_error.h"

namespace pgsilo::regex {
namespace {

// Most patterns are flat: only where groups may nest deeply the detour to a large stack is made.
constexpr size_t flat_pattern = 64;

Program compiled(std::string_view pattern, Options options) {
  if (options.syntax == Syntax::literal &&
      (options.expanded || options.newline_ends_match || options.newline_ends_line))
    throw_invalid("invalid argument to regex function");
  auto work = [&] { return compile(parse(pattern, options)); };
  return pattern.size() <= flat_pattern ? work() : run_on_large_stack(work);
}

}  // namespace

Regex::Regex(std::string_view pattern, Options options)
    : program_(std::make_unique<const Program>(compiled(pattern, options))),
      automata_(std::make_unique<Automata>(*program_)) {}

}  // namespace pgsilo::regex
