#include "wal/tool/backup/server_connection.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "wal/wal.h"

namespace pgsilo::backup_tool {

namespace {

const std::string connect_timeout = "10";  // seconds
const std::string fatal = "FATAL:  ";

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    size_t comma = std::min(text.find(',', at), text.size());
    std::string word = text.substr(at, comma - at);
    word.erase(0, word.find_first_not_of(' '));
    if (!word.empty()) words.push_back(word);
    at = comma + 1;
  }
  return words;
}

}  // namespace

bool Server::connect(const CommandLine& line, std::string* why) {
  std::vector<const char*> keys = {"dbname", "application_name"};
  std::vector<const char*> values = {"postgres", program};
  auto add = [&](const char* key, const std::string& value) {
    if (value.empty()) return;
    keys.push_back(key);
    values.push_back(value.c_str());
  };
  add("host", line.host);
  add("port", line.port);
  add("user", line.user);
  if (std::getenv("PGCONNECT_TIMEOUT") == nullptr) add("connect_timeout", connect_timeout);
  keys.push_back(nullptr);
  values.push_back(nullptr);
  connection_.reset(PQconnectdbParams(keys.data(), values.data(), 0));
  PQsetNoticeProcessor(connection_.get(), [](void*, const char*) {}, nullptr);
  state_.clear();
  if (is_connected()) return true;
  fail(why);
  return why->find(fatal) != std::string::npos && connect_again();
}

// Of a connection that is refused libpq tells the SQLSTATE to those only who have asked for nothing
// else than that.
bool Server::connect_again() {
  PQsetErrorVerbosity(connection_.get(), PQERRORS_SQLSTATE);
  PQreset(connection_.get());
  PQsetErrorVerbosity(connection_.get(), PQERRORS_DEFAULT);
  if (is_connected()) return true;
  std::string said = PQerrorMessage(connection_.get());
  size_t at = said.rfind(fatal);
  if (at != std::string::npos) state_ = said.substr(at + fatal.size(), 5);
  return false;
}

bool Server::ask(const char* statement, const std::vector<std::string>& parameters,
                 std::vector<std::string>* row, std::string* why) {
  std::vector<const char*> values;
  values.reserve(parameters.size());
  for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
  std::unique_ptr<PGresult, void (*)(PGresult*)> result(
      PQexecParams(connection_.get(), statement, static_cast<int>(values.size()), nullptr,
                   values.data(), nullptr, nullptr, 0),
      PQclear);
  if (PQresultStatus(result.get()) != PGRES_TUPLES_OK || PQntuples(result.get()) != 1) {
    const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
    state_ = state == nullptr ? "" : state;
    return fail(why);
  }
  for (size_t i = 0; i < row->size(); ++i)
    (*row)[i] = PQgetvalue(result.get(), 0, static_cast<int>(i));
  return true;
}

// Resources, an operator's doing, errors of devices.
bool Server::lacks_something() const {
  return state_.starts_with("53") || state_.starts_with("57") || state_.starts_with("58");
}

bool Server::refuses() const {
  return std::ranges::any_of(std::array{"0A", "22", "28", "3D", "42"},
                             [&](const char* code) { return state_.starts_with(code); });
}

bool Server::fail(std::string* why) {
  *why = PQerrorMessage(connection_.get());
  while (!why->empty() && why->back() == '\n') why->pop_back();
  if (why->starts_with("ERROR:  ")) why->erase(0, 8);
  return false;
}

bool find_source(Server& server, BackupSource* source, std::string* why) {
  std::vector<std::string> settings(3);
  if (!server.ask("SELECT current_setting('data_directory'), current_setting('log_directories'), "
                  "current_setting('checkpoint_directories')",
                  {}, &settings, why)) {
    return false;
  }
  source->data_directory = settings[0];
  const WalOptions usual;
  source->log_directories = split_commas(settings[1]);
  if (source->log_directories.empty()) source->log_directories = usual.log_directories;
  source->checkpoint_directories = split_commas(settings[2]);
  if (source->checkpoint_directories.empty())
    source->checkpoint_directories = usual.checkpoint_directories;
  return true;
}

}  // namespace pgsilo::backup_tool
