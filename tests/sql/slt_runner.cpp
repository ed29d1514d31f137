// Runs .slt files over a socket and compares every answer: values, column types, command tags and
// SQLSTATEs through the simple protocol in text, and the values of queries again through the
// extended protocol in binary.
//
//   slt_runner CONNINFO FILE.slt...            run; prints each difference; exits 1 if there was
//   one slt_runner --record CONNINFO FILE.slt...   rewrite each file with what this server answers
//   slt_runner --import CONNINFO FILE.sql...   make FILE.slt from plain SQL statements separated by
//   blank lines
//
// Each file starts in a new session with an empty public schema.
#include <libpq-fe.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/sql/slt_file.h"

namespace pgsilo::slt {
namespace {

struct FinishConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Connection = std::unique_ptr<PGconn, FinishConnection>;
using Result = std::unique_ptr<PGresult, ClearResult>;

Connection connect(const std::string& conninfo) {
  Connection connection(PQconnectdb(conninfo.c_str()));
  if (PQstatus(connection.get()) != CONNECTION_OK)
    throw std::runtime_error(PQerrorMessage(connection.get()));
  PQsetNoticeProcessor(connection.get(), [](void*, const char*) {}, nullptr);
  return connection;
}

// Relations a file left behind, by the catalog both servers have.
void empty_public_schema(PGconn* connection) {
  Result tables(PQexec(connection,
                       "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = "
                       "(SELECT oid FROM pg_namespace WHERE nspname = 'public')"));
  for (int row = 0; row < PQntuples(tables.get()); ++row) {
    std::unique_ptr<char, decltype(&PQfreemem)> name(
        PQescapeIdentifier(connection, PQgetvalue(tables.get(), row, 0),
                           PQgetlength(tables.get(), row, 0)),
        PQfreemem);
    Result dropped(PQexec(connection, ("DROP TABLE " + std::string(name.get())).c_str()));
  }
}

std::string escaped(const char* value, int length) {
  if (length == 0) return "(empty)";
  std::string text;
  for (int i = 0; i < length; ++i) {
    switch (value[i]) {
      case '\\':
        text += "\\\\";
        break;
      case '|':
        text += "\\|";
        break;
      case '\n':
        text += "\\n";
        break;
      case '\r':
        text += "\\r";
        break;
      default:
        text += value[i];
    }
  }
  return text;
}

const char* type_name(Oid oid) {
  static const std::map<Oid, const char*> names = {
      {16, "bool"},        {17, "bytea"},         {18, "char"},       {19, "name"},
      {20, "int8"},        {21, "int2"},          {22, "int2vector"}, {23, "int4"},
      {24, "regproc"},     {25, "text"},          {26, "oid"},        {28, "xid"},
      {30, "oidvector"},   {194, "pg_node_tree"}, {700, "float4"},    {701, "float8"},
      {705, "unknown"},    {1005, "int2[]"},      {1007, "int4[]"},   {1009, "text[]"},
      {1042, "bpchar"},    {1043, "varchar"},     {1082, "date"},     {1083, "time"},
      {1114, "timestamp"}, {1184, "timestamptz"}, {1186, "interval"}, {1266, "timetz"},
      {1700, "numeric"},   {2205, "regclass"},    {2206, "regtype"},  {2278, "void"},
      {2249, "record"}};
  auto found = names.find(oid);
  return found == names.end() ? nullptr : found->second;
}

// Which OID a user's type gets differs from server to server.
constexpr Oid first_user_oid = 16384;

std::string column_types(const PGresult* result) {
  std::string types;
  for (int column = 0; column < PQnfields(result); ++column) {
    if (column != 0) types += ',';
    Oid oid = PQftype(result, column);
    const char* name = type_name(oid);
    types += name != nullptr ? name : oid < first_user_oid ? std::to_string(oid) : "user";
  }
  return types.empty() ? "none" : types;
}

std::vector<std::string> text_rows(const PGresult* result) {
  std::vector<std::string> rows;
  for (int row = 0; row < PQntuples(result); ++row) {
    std::string line;
    for (int column = 0; column < PQnfields(result); ++column) {
      if (column != 0) line += '|';
      line += PQgetisnull(result, row, column)
                  ? "NULL"
                  : escaped(PQgetvalue(result, row, column), PQgetlength(result, row, column));
    }
    rows.push_back(line.empty() ? "(no columns)" : line);
  }
  return rows;
}

// An array's third word is its elements' type; a label, which is what is sent of an enum, has no
// byte 0.
void hide_element_oid(std::string& bytes, size_t start) {
  constexpr size_t oid_at = 8, oid_end = 12;
  if (bytes.size() - start >= oid_end && bytes[start] == '\0')
    std::fill(bytes.begin() + start + oid_at, bytes.begin() + start + oid_end, '\0');
}

// FNV-1a over the rows' values with their lengths; rows in sorted order where the query's order is
// not fixed.
std::string binary_hash(const PGresult* result, bool row_sort) {
  std::vector<std::string> rows;
  for (int row = 0; row < PQntuples(result); ++row) {
    std::string bytes;
    for (int column = 0; column < PQnfields(result); ++column) {
      bool null = PQgetisnull(result, row, column);
      int length = PQgetlength(result, row, column);
      bytes += null ? "N" : std::to_string(length) + ":";
      if (null) continue;
      size_t start = bytes.size();
      bytes.append(PQgetvalue(result, row, column), length);
      if (PQftype(result, column) >= first_user_oid) hide_element_oid(bytes, start);
    }
    rows.push_back(bytes);
  }
  if (row_sort) std::sort(rows.begin(), rows.end());
  uint64_t hash = 0xcbf29ce484222325;
  for (const std::string& row : rows) {
    for (unsigned char byte : row) hash = (hash ^ byte) * 0x100000001b3;
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016lx", static_cast<unsigned long>(hash));
  return text;
}

bool starts_with_word(const std::string& sql, const char* word) {
  size_t start = sql.find_first_not_of(" \n(");
  if (start == std::string::npos) return false;
  size_t length = std::string(word).size();
  return sql.size() >= start + length &&
         std::equal(word, word + length, sql.begin() + static_cast<long>(start),
                    [](char a, char b) { return a == (b | 0x20); });
}

// Queries that may be asked twice without changing anything, and whose binary values are the same
// on every server (a regclass travels as its number).
bool binary_comparable(const std::string& sql, const std::string& types) {
  if (types.find("regclass") != std::string::npos) return false;
  return starts_with_word(sql, "select") || starts_with_word(sql, "values") ||
         starts_with_word(sql, "with") || starts_with_word(sql, "table");
}

// A query of several rows whose order SQL leaves open is compared sorted.
bool order_is_open(const Record& answer) {
  std::string lower = answer.sql;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return answer.rows.size() > 1 && lower.find("order by") == std::string::npos;
}

enum class Purpose { comparison, recording };

// What the server answers to `expected.sql`, as the record that would expect it.
Record ask(PGconn* connection, const Record& expected, Purpose purpose) {
  Record answer = expected;
  Result result(PQexec(connection, expected.sql.c_str()));
  switch (PQresultStatus(result.get())) {
    case PGRES_COMMAND_OK:
    case PGRES_EMPTY_QUERY:
      answer.kind = RecordKind::statement_ok;
      answer.tag = PQcmdStatus(result.get());
      return answer;
    case PGRES_TUPLES_OK:
      break;
    default: {
      answer.kind = RecordKind::statement_error;
      const char* sqlstate = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
      answer.sqlstate = sqlstate != nullptr ? sqlstate : "?????";
      answer.rows = {PQresultErrorMessage(result.get())};
      if (PQstatus(connection) != CONNECTION_OK)
        throw std::runtime_error("connection lost: " + answer.rows[0]);
      return answer;
    }
  }
  answer.kind = RecordKind::query;
  answer.types = column_types(result.get());
  answer.rows = text_rows(result.get());
  if (purpose == Purpose::recording && order_is_open(answer)) answer.row_sort = true;
  if (answer.row_sort) std::sort(answer.rows.begin(), answer.rows.end());
  answer.binary_hash.clear();
  if (binary_comparable(expected.sql, answer.types)) {
    Result binary(
        PQexecParams(connection, expected.sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 1));
    if (PQresultStatus(binary.get()) == PGRES_TUPLES_OK) {
      answer.binary_hash = binary_hash(binary.get(), answer.row_sort);
    } else {
      answer.binary_hash =
          std::string("error ") + PQresultErrorField(binary.get(), PG_DIAG_SQLSTATE);
    }
  }
  return answer;
}

std::string described(const Record& record) {
  switch (record.kind) {
    case RecordKind::statement_ok:
      return "ok " + record.tag;
    case RecordKind::statement_error:
      return "error " + record.sqlstate + (record.rows.empty() ? "" : ": " + record.rows[0]);
    case RecordKind::query:
      break;
  }
  std::string text = record.types + "\n";
  for (const std::string& row : record.rows) text += "    " + row + "\n";
  return text + "    binary " + record.binary_hash;
}

bool agree(const Record& expected, const Record& answer) {
  if (expected.kind != answer.kind) return false;
  switch (expected.kind) {
    case RecordKind::statement_ok:
      return expected.tag.empty() || expected.tag == answer.tag;
    case RecordKind::statement_error:
      return expected.sqlstate == answer.sqlstate;
    case RecordKind::query:
      break;
  }
  return expected.types == answer.types && expected.rows == answer.rows &&
         (expected.binary_hash.empty() || expected.binary_hash == answer.binary_hash);
}

struct Totals {
  int passed = 0;
  int failed = 0;
};

void run_file(const std::string& conninfo, const std::string& path, Totals& totals) {
  std::vector<Record> records = read_file(path);
  Connection connection = connect(conninfo);
  empty_public_schema(connection.get());
  for (const Record& expected : records) {
    Record answer;
    try {
      answer = ask(connection.get(), expected, Purpose::comparison);
    } catch (const std::runtime_error& error) {
      std::printf("%s:%d: %s\n  %s\n", path.c_str(), expected.line, error.what(),
                  expected.sql.c_str());
      ++totals.failed;
      connection = connect(conninfo);
      continue;
    }
    if (agree(expected, answer)) {
      ++totals.passed;
      continue;
    }
    ++totals.failed;
    std::printf("%s:%d:\n  %s\n  expected %s\n  got      %s\n", path.c_str(), expected.line,
                expected.sql.c_str(), described(expected).c_str(), described(answer).c_str());
  }
  empty_public_schema(connection.get());
}

void record_file(const std::string& conninfo, const std::string& from, bool plain) {
  std::vector<Record> records = plain ? read_plain_sql(from) : read_file(from);
  Connection connection = connect(conninfo);
  empty_public_schema(connection.get());
  for (Record& record : records) {
    Record answer = ask(connection.get(), record, Purpose::recording);
    if (answer.kind == RecordKind::statement_error) answer.rows.clear();
    record = answer;
  }
  empty_public_schema(connection.get());
  std::string to = plain ? from.substr(0, from.rfind('.')) + ".slt" : from;
  write_file(to, records);
}

int run(std::vector<std::string> arguments) {
  bool import = !arguments.empty() && arguments[0] == "--import";
  bool record = import || (!arguments.empty() && arguments[0] == "--record");
  if (record) arguments.erase(arguments.begin());
  if (arguments.size() < 2) {
    std::fprintf(stderr, "usage: slt_runner [--record | --import] CONNINFO FILE...\n");
    return 2;
  }
  Totals totals;
  for (size_t i = 1; i < arguments.size(); ++i) {
    if (record) {
      record_file(arguments[0], arguments[i], import);
    } else {
      run_file(arguments[0], arguments[i], totals);
    }
  }
  if (!record) std::printf("%d passed, %d failed\n", totals.passed, totals.failed);
  return totals.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace pgsilo::slt

int main(int count, char** arguments) {
  try {
    return pgsilo::slt::run({arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "slt_runner: %s\n", error.what());
    return 2;
  }
}
