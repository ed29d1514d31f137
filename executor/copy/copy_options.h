// The options of COPY, checked as PostgreSQL checks them.
// Thread safety: plain values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/ast/utility.h"

namespace pgsilo {

struct PlannedStatement;

enum class CopyHeader : uint8_t { none, present, match };

struct CopyOptions {
  bool csv = false;
  bool freeze = false;
  CopyHeader header = CopyHeader::none;
  char delimiter = '\t';
  char quote = '"';
  char escape = '"';
  std::string null_text = "\\N";
  bool force_quote_all = false;
  std::vector<std::string> force_quote;
  std::vector<std::string> force_not_null;
  std::vector<std::string> force_null;

  // `text`: of the statement, for error positions.
  static CopyOptions parse(const ast::CopyStmt& statement, std::string_view text);
};

}  // namespace pgsilo
