// The command line of the server, as PostgreSQL's `postgres` takes it.
// Thread safety: plain data.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace pgsilo {

class ServerSettings;

struct Options {
  enum class Action : unsigned char { run, print_version, print_help, describe_config, fail };
  Action action = Action::run;
  std::string problem;  // with fail: what to print
  std::string data_directory;
};

// Reads the arguments into options and settings: -D DIR, -p PORT, -k DIR, -h HOST, -N CONNECTIONS,
// -c NAME=VALUE,
// --NAME=VALUE, --version, --help.
Options read_options(int argument_count, char** arguments, ServerSettings* settings);

extern const char help_text[];
// The parameters that may be set, a line each: name, default, meaning.
std::string describe_config();

}  // namespace pgsilo
