// The options of a tool's command line, and how it says that there is something wrong with them.
// Thread safety: plain functions; read_options() of one thread at a time (getopt).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pgsilo {

struct ToolOption {
  char letter;
  const char* name;
  bool has_value;
};

struct ToolWords {
  bool help = false;  // was asked for, and nothing else counts
  std::vector<std::string> names;
};

// Reads all options, with --help and -? beside those that are named, and what is none of them.
// `take`: gets each, its letter and its value; false: it has said what is wrong. False: it was told
// what is wrong.
bool read_options(std::string_view program, std::span<const ToolOption> options, int count,
                  char** words, ToolWords* read,
                  const std::function<bool(char letter, const char* value)>& take);
// Always false.
bool wrong_usage(std::string_view program, const std::string& what);
// Likewise.
bool wrong_value(std::string_view program, std::string_view option, std::string_view wanted,
                 std::string_view value);

}  // namespace pgsilo
