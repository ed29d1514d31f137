// .slt files: SQL statements and what PostgreSQL answers to them (sqllogictest's format, with
// column types by name, SQLSTATEs, command tags and a hash of the binary values).
//
//   statement ok [COMMAND TAG]            query int4,text [rowsort]        # a comment
//   CREATE TABLE t (a int)                SELECT 1, 'x'
//                                         ----
//   statement error 42P01                 1|x
//   SELECT * FROM nowhere                 binary 1f9c0a64d3b2e8f7
//
// Records are separated by blank lines. In values, NULL is NULL, the empty string (empty), and
// backslash, '|' and line ends are escaped with a backslash.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pgsilo::slt {

enum class RecordKind { statement_ok, statement_error, query };

struct Record {
  RecordKind kind = RecordKind::statement_ok;
  std::vector<std::string>
      comments;  // lines that stand before it, kept when a file is recorded anew
  std::string sql;
  std::string tag;       // statement_ok: the command tag; empty: any
  std::string sqlstate;  // statement_error
  std::string types;     // query: type names joined by commas
  bool row_sort = false;
  std::vector<std::string> rows;  // formatted as above
  std::string binary_hash;        // empty: binary is not checked
  int line = 0;                   // where it starts, 1-based
};

// Throws std::runtime_error with the line on a malformed file.
std::vector<Record> read_file(const std::string& path);
// Statements of a plain SQL file, separated by blank lines, with nothing expected yet.
std::vector<Record> read_plain_sql(const std::string& path);
void write_file(const std::string& path, const std::vector<Record>& records);

}  // namespace pgsilo::slt
