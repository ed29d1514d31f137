#include "bench/arguments.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace pgsilo {

std::string Arguments::text(std::string_view name, std::string_view otherwise) {
  auto found = std::find(words_.begin(), words_.end(), name);
  if (found == words_.end() || found + 1 == words_.end()) return std::string(otherwise);
  std::string value = *(found + 1);
  words_.erase(found, found + 2);
  return value;
}

uint64_t Arguments::number(std::string_view name, uint64_t otherwise) {
  std::string value = text(name, "");
  if (value.empty()) return otherwise;
  uint64_t number = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc() && end == value.data() + value.size()) return number;
  std::fprintf(stderr, "%s takes a number, not \"%s\"\n", std::string(name).c_str(), value.c_str());
  std::exit(2);
}

size_t Arguments::choice(std::string_view name, std::initializer_list<std::string_view> choices) {
  std::string value = text(name, *choices.begin());
  const auto* found = std::find(choices.begin(), choices.end(), value);
  if (found != choices.end()) return static_cast<size_t>(found - choices.begin());
  std::fprintf(stderr, "%s takes one of", std::string(name).c_str());
  for (std::string_view choice : choices) std::fprintf(stderr, " %s", std::string(choice).c_str());
  std::fprintf(stderr, ", not \"%s\"\n", value.c_str());
  std::exit(2);
}

void Arguments::finish(std::initializer_list<const char*> usages) const {
  if (words_.empty()) return;
  std::fprintf(stderr, "unknown option \"%s\"\noptions:\n", words_.front().c_str());
  for (const char* usage : usages) std::fputs(usage, stderr);
  std::exit(2);
}

}  // namespace pgsilo
