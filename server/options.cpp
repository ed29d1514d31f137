#include "server/options.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "server/settings/settings.h"
#include "sql/sql_error.h"

namespace pgsilo {

const char help_text[] =
    "pgsilo is a PostgreSQL-compatible main-memory database server.\n"
    "\n"
    "Usage:\n"
    "  pgsilo [OPTION]...\n"
    "\n"
    "Options:\n"
    "  -c NAME=VALUE      set run-time parameter\n"
    "  -D DATADIR         database directory (default: $PGDATA)\n"
    "  -h HOSTNAME        loopback addresses to listen on; an empty one: none\n"
    "  -k DIRECTORY       Unix-domain socket location\n"
    "  -N MAX-CONNECT     maximum number of allowed connections\n"
    "  -p PORT            port number to listen on\n"
    "  --describe-config  list the run-time parameters with their defaults, then exit\n"
    "  --NAME=VALUE       set run-time parameter\n"
    "  -V, --version      output version information, then exit\n"
    "  -?, --help         show this help, then exit\n"
    "\n"
    "Signals: TERM ends the server when its clients have left, INT ends them, QUIT ends it\n"
    "immediately. Run-time parameters are listed by --describe-config, and by SHOW ALL of a\n"
    "server that runs.\n";

namespace {

// Command-line words may spell names with dashes.
void set_parameter(std::string_view assignment, std::string_view word, ServerSettings* settings) {
  size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw SqlError(sqlstate::syntax_error, concat(word, " requires a value"));
  }
  std::string name(assignment.substr(0, equals));
  std::replace(name.begin(), name.end(), '-', '_');
  settings->set(name, assignment.substr(equals + 1));
}

std::string_view setting_of_flag(char flag) {
  switch (flag) {
    case 'h':
      return "listen_addresses";
    case 'k':
      return "unix_socket_directories";
    case 'N':
      return "max_connections";
    case 'p':
      return "port";
    default:
      return {};
  }
}

void read_flag(char flag, std::string_view value, Options* options, ServerSettings* settings) {
  if (flag == 'D') {
    options->data_directory = value;
  } else if (flag == 'c') {
    set_parameter(value, concat("-c ", value), settings);
  } else {
    settings->set(setting_of_flag(flag), value);
  }
}

void read_words(int count, char** words, Options* options, ServerSettings* settings) {
  for (int i = 1; i < count; ++i) {
    std::string_view word = words[i];
    if (word == "--version" || word == "-V") {
      options->action = Options::Action::print_version;
      return;
    }
    if (word == "--describe-config") {
      options->action = Options::Action::describe_config;
      return;
    }
    if (word == "--help" || word == "-?") {
      options->action = Options::Action::print_help;
      return;
    }
    if (word.starts_with("--")) {
      set_parameter(word.substr(2), word, settings);
      continue;
    }
    bool known = word.size() >= 2 && word[0] == '-' &&
                 (word[1] == 'D' || word[1] == 'c' || !setting_of_flag(word[1]).empty());
    if (!known) throw SqlError(sqlstate::syntax_error, concat("invalid argument: \"", word, "\""));
    if (word.size() > 2) {
      read_flag(word[1], word.substr(2), options, settings);
    } else if (++i < count) {
      read_flag(word[1], words[i], options, settings);
    } else {
      throw SqlError(sqlstate::syntax_error,
                     concat("option requires an argument -- '", word[1], "'"));
    }
  }
}

}  // namespace

std::string describe_config() {
  std::string text;
  for (const SettingDefinition& each : setting_definitions()) {
    if (each.context == SettingContext::internal) continue;
    text += concat(each.name, "\t", each.initial, "\t", each.description, "\n");
  }
  return text;
}

Options read_options(int argument_count, char** arguments, ServerSettings* settings) {
  Options options;
  try {
    if (const char* directory = std::getenv("PGDATA")) options.data_directory = directory;
    read_words(argument_count, arguments, &options, settings);
    if (options.action == Options::Action::run && options.data_directory.empty()) {
      throw SqlError(sqlstate::syntax_error, "does not know where to find the database directory")
          .hint("Give it with -D, or set the PGDATA environment variable.");
    }
  } catch (const SqlError& error) {
    options.action = Options::Action::fail;
    options.problem = error.diagnostic().message;
    if (!error.diagnostic().hint.empty()) options.problem += "\nHINT:  " + error.diagnostic().hint;
  }
  return options;
}

}  // namespace pgsilo
