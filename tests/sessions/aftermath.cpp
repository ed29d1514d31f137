#include "tests/sessions/aftermath.h"

#include <algorithm>

#include "tests/protocol/wire_messages.h"

namespace pgsilo::sessions {
namespace wire = protocol_test;
namespace {

constexpr int patience = 60000;  // milliseconds
constexpr const char* user_objects =
    " from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname not in "
    "('pg_catalog', 'information_schema')";

}  // namespace

Aftermath::Aftermath(ServerProcess& server) : server_(server), connection_(server.address()) {
  connection_.keep_answers();
  connection_.send_startup({{"user", "postgres"}, {"database", "postgres"}});
  ask("set statement_timeout = 0");
}

std::vector<std::vector<std::string>> Aftermath::ask(const std::string& sql) {
  connection_.send(wire::query(sql));
  connection_.finish(patience);
  return connection_.take_rows();
}

std::string Aftermath::answers() {
  auto rows = ask("select 41 + 1");
  if (rows.size() == 1 && rows[0][0] == "42") return "";
  std::string why = connection_.violation();
  for (const std::string& each : connection_.take_errors()) why += " " + each;
  return "a new session gets no answer: " + why;
}

std::vector<std::string> Aftermath::sorted_column(const std::string& table,
                                                  const std::string& column, bool by_index,
                                                  bool* is_known) {
  ask(std::string("set enable_seqscan = ") + (by_index ? "off" : "on"));
  ask(std::string("set enable_sort = ") + (by_index ? "off" : "on"));
  ask(std::string("set enable_indexscan = ") + (by_index ? "on" : "off"));
  std::string sql = "select " + column + "::text from " + table + " order by " + column;
  bool uses_index = false;
  for (const auto& row : ask("explain " + sql))
    uses_index |= row[0].find("Index") != std::string::npos;
  if (uses_index != by_index) *is_known = false;
  connection_.take_errors();
  std::vector<std::string> values;
  for (const auto& row : ask(sql)) values.push_back(row[0]);
  if (!connection_.take_errors().empty()) *is_known = false;
  std::sort(values.begin(), values.end());
  return values;
}

std::string Aftermath::indexes_agree(size_t* compared) {
  for (const auto& row :
       ask("select quote_ident(n.nspname) || '.' || quote_ident(c.relname), "
           "quote_ident(a.attname), "
           "i.indexrelid::regclass from pg_index i join pg_class c on c.oid = i.indrelid join "
           "pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid and "
           "a.attnum = i.indkey[0] where n.nspname not in ('pg_catalog', 'information_schema')")) {
    bool is_known = true;
    auto by_table = sorted_column(row[0], row[1], false, &is_known);
    auto by_index = sorted_column(row[0], row[1], true, &is_known);
    if (!is_known) continue;
    ++*compared;
    if (by_table != by_index) {
      return "table " + row[0] + " has " + std::to_string(by_table.size()) + " rows by itself, " +
             std::to_string(by_index.size()) + " by index " + row[2] + " on " + row[1];
    }
  }
  return "";
}

std::string Aftermath::drop_everything() {
  auto drop_all = [&](const char* kind, const char* letter) {
    for (int turn = 0; turn < 3; ++turn) {
      for (const auto& row : ask("select quote_ident(n.nspname) || '.' || quote_ident(c.relname)" +
                                 std::string(user_objects) + " and c.relkind = '" + letter + "'"))
        ask(std::string("drop ") + kind + " " + row[0] + " cascade");
    }
  };
  drop_all("table", "r");
  drop_all("sequence", "S");
  for (const auto& row : ask("select quote_ident(nspname) from pg_namespace where nspname not in "
                             "('pg_catalog', 'information_schema', 'public')"))
    ask("drop schema " + row[0] + (row[0].starts_with("pg_") ? "" : " cascade"));
  connection_.take_errors();
  std::string left;
  for (const auto& row : ask("select c.relname, c.relkind" + std::string(user_objects)))
    left += " " + row[0];
  return left.empty() ? "" : "cannot be dropped:" + left;
}

Levels Aftermath::levels() {
  Levels read;
  auto rows = ask("select used from pgsilo_memory");
  if (!rows.empty()) read.used = std::stol(rows[0][0]);
  read.resident = server_.resident_kilobytes();
  read.descriptors = server_.descriptors();
  return read;
}

}  // namespace pgsilo::sessions
