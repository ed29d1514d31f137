#include "wal/tool/options.h"

#include <getopt.h>

#include <cstdio>

#include "wal/tool/complaint.h"

namespace pgsilo {
namespace {

constexpr int help_option = 256;  // no letter

std::string more_information(std::string_view program) {
  return "Try \"" + std::string(program) + " --help\" for more information.";
}

}  // namespace

bool read_options(std::string_view program, std::span<const ToolOption> options, int count,
                  char** words, ToolWords* read,
                  const std::function<bool(char letter, const char* value)>& take) {
  std::string letters;
  std::vector<option> names;
  for (const ToolOption& each : options) {
    letters += each.letter;
    if (each.has_value) letters += ':';
    names.push_back(
        {each.name, each.has_value ? required_argument : no_argument, nullptr, each.letter});
  }
  names.push_back({"help", no_argument, nullptr, help_option});
  names.push_back({nullptr, 0, nullptr, 0});
  // To getopt it is what any unknown option is.
  read->help = count > 1 && std::string_view(words[1]) == "-?";
  while (!read->help) {
    int found = getopt_long(count, words, letters.c_str(), names.data(), nullptr);
    if (found == -1) break;
    read->help = found == help_option;
    if (read->help) break;
    if (found == '?') {
      std::fprintf(stderr, "%s\n", more_information(program).c_str());
      return false;
    }
    if (!take(static_cast<char>(found), optarg)) return false;
  }
  if (!read->help) read->names.assign(words + optind, words + count);
  return true;
}

bool wrong_usage(std::string_view program, const std::string& what) {
  complain(program, what + "\n" + more_information(program));
  return false;
}

bool wrong_value(std::string_view program, std::string_view option, std::string_view wanted,
                 std::string_view value) {
  return wrong_usage(program, "option " + std::string(option) + " wants " + std::string(wanted) +
                                  ", not \"" + std::string(value) + "\"");
}

}  // namespace pgsilo
