#include "wal/tool/complaint.h"

#include <cstdio>

namespace pgsilo {

void complain(std::string_view program, const std::string& why) {
  std::string name(program);
  size_t line = why.find('\n');
  std::fprintf(stderr, "%s: error: %s\n", name.c_str(), why.substr(0, line).c_str());
  while (line != std::string::npos) {
    size_t from = line + 1;
    line = why.find('\n', from);
    std::fprintf(stderr, "%s: %s\n", name.c_str(), why.substr(from, line - from).c_str());
  }
}

}  // namespace pgsilo
