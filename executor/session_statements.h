// The prepared statements of the session that runs a statement, as pg_prepared_statements shows
// them; the server implements it. Thread safety: the session's fiber.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sql/types/type_oid.h"

namespace pgsilo {

struct TableDescriptor;

// Valid until the session prepares or forgets a statement.
struct PreparedStatementInfo {
  std::string_view name;
  std::string_view text;
  int64_t prepared_us = 0;  // microseconds since 2000-01-01 00:00 UTC
  std::span<const Oid> parameter_types;
  bool from_sql = false;  // by PREPARE
  uint64_t generic_plans = 0;
  uint64_t custom_plans = 0;
};

class SessionStatements {
 public:
  virtual ~SessionStatements() = default;
  virtual std::vector<PreparedStatementInfo> list() const = 0;
};

// And its cursors, as pg_cursors shows them.
struct CursorInfo {
  std::string_view name;
  std::string_view text;
  bool is_holdable = false;
  bool is_binary = false;
  bool scrolls = false;
  int64_t declared_us = 0;
};

class SessionCursors {
 public:
  virtual ~SessionCursors() = default;
  virtual std::vector<CursorInfo> cursors() const = 0;
  // 55006 if one of them is still to read rows of the table, which the command would change.
  virtual void refuse_in_use(const TableDescriptor& table, std::string_view command) const = 0;
};

}  // namespace pgsilo
