// The command line of a benchmark: --NAME VALUE pairs. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace pgsilo {

class Arguments {
 public:
  Arguments(int argc, char** argv) : words_(argv + 1, argv + argc) {}
  std::string text(std::string_view name, std::string_view otherwise);
  uint64_t number(std::string_view name, uint64_t otherwise);
  // One of `choices`, the first if it is not given; its index. Another one ends the process.
  size_t choice(std::string_view name, std::initializer_list<std::string_view> choices);
  // Ends the process with the usages, which are shown in turn, if an option was not asked for.
  void finish(std::initializer_list<const char*> usages) const;

 private:
  std::vector<std::string> words_;  // those not yet asked for
};

}  // namespace pgsilo
